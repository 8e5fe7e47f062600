"""Makes the pages for artists into HTML that comes with the add-on, where F1 opens them: `make build` runs it.

It knows as much of Markdown as these pages use: headings, paragraphs, lists, tables, pictures, links, code, emphasis.
"""

from __future__ import annotations

import html
import re
import shutil
import textwrap
from pathlib import Path

DOCS = Path(__file__).resolve().parent
# Links to other pages become plain text.
PAGES = ("artist", "first-bake", "painting", "tuning", "cloth", "face", "collisions", "edit", "reference", "faq")

_EMPTY = "\0"  # a line of code without anything: it ends no block
_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ max-width: 50em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif; color: #222; }}
img {{ max-width: 100%; }} code, pre {{ background: #eee; padding: 0 .2em; }}
table {{ border-collapse: collapse; }} td, th {{ border: 1px solid #ccc; padding: .3em .6em; text-align: left; }}
</style></head><body>
"""


def make(target: Path) -> None:
    """Writes the pages and the pictures that they show into a folder of their own."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in PAGES:
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
            shutil.copyfile(DOCS / picture, target / picture)
        (target / f"{name}.html").write_text(page(text), encoding="utf-8")


def page(text: str) -> str:
    title = next(iter(re.findall(r"^# (.*)$", text, re.M)), "Sinew")
    text = re.sub(r"^```.*?^```", lambda code: code[0].replace("\n\n", f"\n{_EMPTY}\n"), text, flags=re.M | re.S)
    blocks = re.split(r"\n\s*\n(?!   \S)", text.strip())  # what is indented by three goes on with the block before
    return _HEAD.format(title=html.escape(title)) + "\n".join(_block(block) for block in blocks) + "\n</body></html>\n"


def anchor(heading: str) -> str:
    """By which a heading is found, as on the pages' own site."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _block(block: str) -> str:
    heading = re.match(r"(#+) (.*)$", block)
    if heading:
        level = len(heading[1])
        rest = block[heading.end() :].strip()
        made = f'<h{level} id="{anchor(heading[2])}">{_inline(heading[2])}</h{level}>'
        return f"{made}\n{_block(rest)}" if rest else made
    if block.startswith("```"):
        _, _, code = block.strip("`").replace(_EMPTY, "").partition("\n")
        return f"<pre>{html.escape(code.strip())}</pre>"
    if block.startswith("    "):
        return f"<pre>{html.escape(textwrap.dedent(block).strip())}</pre>"
    if block.startswith("|"):
        return _table(block.splitlines())
    marked = re.match(r"(\d+\.|[-*]) ", block)
    if marked:
        kind = "ol" if marked[1][0].isdigit() else "ul"
        items = re.split(r"^(?:\d+\.|[-*]) +", block, flags=re.M)[1:]
        return f"<{kind}>" + "".join(f"<li>{_paragraphs(item)}</li>\n" for item in items) + f"</{kind}>"
    return f"<p>{_inline(block)}</p>"


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{_inline(part.strip())}</p>" for part in re.split(r"\n\s*\n", text) if part.strip())


def _table(lines: list[str]) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    made = []
    for number, row in enumerate(rows):
        if number != 1:  # the line below the heads
            tag = "th" if number == 0 else "td"
            made.append("<tr>" + "".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in row) + "</tr>")
    return "<table>" + "\n".join(made) + "</table>"


def _inline(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"!\[([^]]*)\]\(([^)]+)\)", r'<img src="\2" alt="\1">', text)
    text = re.sub(r"\[([^]]+)\]\(([^)]+)\)", _link, text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text, flags=re.S)
    return re.sub(r"(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])", r"<i>\1</i>", text)


def _link(found: re.Match[str]) -> str:
    name, address = found[1], found[2]
    if "://" in address or address.startswith("#"):
        return f'<a href="{address}">{name}</a>'
    target, mark, part = address.partition("#")
    is_here = target.removesuffix(".md") in PAGES
    return f'<a href="{target.removesuffix(".md")}.html{mark}{part}">{name}</a>' if is_here else name
