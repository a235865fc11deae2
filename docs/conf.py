"""How the documentation is built: ``make docs``. Nothing is fetched, and every notebook runs."""

import logging
import os
import sys
from pathlib import Path

from xcskit import __version__

HERE = Path(__file__).parent
sys.path.append(str(HERE / "_ext"))
os.environ["MATPLOTLIBRC"] = str(HERE / "_static" / "matplotlibrc")
# Notebooks run in this Python, whatever kernels there are, and tell nothing but errors.
os.environ["JUPYTER_PATH"] = str(HERE / "_jupyter")
logging.getLogger("traitlets").setLevel(logging.WARNING)

project = "xcskit"
author = "the xcskit developers"
copyright = author  # noqa: A001 - Sphinx's name
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "commands",
    "layers",
    "mathml",
]
exclude_patterns = ["_build", "_ext", "_jupyter"]

# Notebooks are text, and run at every build; an error in a cell is an error of the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_merge_streams = True
smartquotes = False
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Types stand in signatures, shapes in the prose; a layer's page lists what the layer exports.
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_attributes_as_param_list = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# Every reference has to lead somewhere; other projects' names have no page here, and fetching their
# inventories would make the build depend on the network.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|np|npt|polars|pl|pandas|pd|scipy|sparse|gymnasium|matplotlib|rich)\..*"),
    (r"py:.*", r"(collections|concurrent|contextlib|pathlib|typing|types)\..*"),
    # What annotations name and no user ever writes: kernel storages, protocols, unions.
    (r"py:.*", r"xcskit\.kernels\..*"),
    (r"py:.*", r"Plain|xcskit\..*\.(Judged|Masking|Progress|StoreWriter|Tabular)"),
]
suppress_warnings = ["toc.empty_glob"]

html_theme = "furo"
html_title = f"xcskit {version}"
html_static_path = ["_static"]
html_css_files = ["xcskit.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0072B2",
        "color-brand-content": "#0072B2",
    },
    "dark_css_variables": {
        "color-brand-primary": "#56B4E9",
        "color-brand-content": "#56B4E9",
    },
}
copybutton_exclude = ".linenos, .gp, .go"
