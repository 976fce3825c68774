"""Makes the wheel and the source archive of the package (PEP 517): what pip calls. Needs nothing but Python."""
import base64
import hashlib
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "trapeze", "_library.py"), encoding="utf-8") as library:
    VERSION = re.search(r'^VERSION = "(.*)"', library.read(), re.M)[1]
METADATA = """Metadata-Version: 2.1
Name: trapeze
Version: %s
Summary: Iterative stencil loops with ghost zones: the Python package of Trapeze, which needs libtrapeze.so
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
""" % VERSION
WHEEL = "Wheel-Version: 1.0\nGenerator: trapeze\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "trapeze-%s-py3-none-any.whl" % VERSION
    info = "trapeze-%s.dist-info/" % VERSION
    files = {}
    for file in sorted(os.listdir(os.path.join(HERE, "trapeze"))):
        if file.endswith((".py", ".pyi", ".typed", ".so")):
            with open(os.path.join(HERE, "trapeze", file), "rb") as content:
                files["trapeze/" + file] = content.read()
    files[info + "METADATA"], files[info + "WHEEL"] = METADATA.encode(), WHEEL.encode()
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (path, digest, len(content))
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = "trapeze-%s.tar.gz" % VERSION
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz") as archive:
        for file in ("pyproject.toml", "backend.py", "trapeze"):
            archive.add(os.path.join(HERE, file), "trapeze-%s/%s" % (VERSION, file),
                        filter=lambda item: None if "__pycache__" in item.name else item)
    return name
