"""Executes the code cells of a notebook, without Jupyter: python3 notebook.py FILE.ipynb"""
import json
import os
import sys
import tempfile


def execute(path):
    """The names that the cells leave. Files that they write are in a folder that is then removed."""
    with open(path, encoding="utf-8") as file:
        book = json.load(file)
    assert book["nbformat"] == 4
    names, here = {"__name__": "__main__"}, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for number, cell in enumerate(book["cells"]):
                if cell["cell_type"] == "code":
                    assert cell["outputs"] == [], "the notebook was saved with its outputs"
                    exec(compile("".join(cell["source"]), "cell %d of %s" % (number, path), "exec"), names)
        finally:
            os.chdir(here)
    return names


if __name__ == "__main__":
    execute(sys.argv[1])
