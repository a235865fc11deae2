"""``python -m xcskit``: the command."""

from xcskit.cli.main import main

if __name__ == "__main__":
    main()
