"""`python -m sinew`: the command line."""

from .command import main

raise SystemExit(main())
