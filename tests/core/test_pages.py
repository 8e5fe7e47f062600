"""The pages: every link and picture in them leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MOST_MOVING = 4_000_000  # bytes of a moving picture


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 _-]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.once
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    assert links or page != PAGES[0]
    for link in links:
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.once
def test_the_first_picture_moves_and_is_small() -> None:
    picture = re.findall(r"!\[[^]]*\]\(([^)]+)\)", PAGES[0].read_text())[0]
    data = (ROOT / picture).read_bytes()
    assert b"acTL" in data[:200] and len(data) < MOST_MOVING
