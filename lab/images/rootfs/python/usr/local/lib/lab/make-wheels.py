"""Makes a wheel of every Python distribution that Debian packages have installed, except pip.

Debian leaves out the RECORD files, so the package that owns a distribution's metadata says which files belong to it.
A package with two distributions would mix their files up, so that is refused.
"""

import base64
import hashlib
import importlib.metadata
import pathlib
import re
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path("/usr/lib/python3/dist-packages")
DPKG = pathlib.Path("/var/lib/dpkg/info")
LEFT_OUT = {"RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json"}


def files_by_package():
    """Maps each Debian package to its regular files below ROOT, relative to it."""
    owned = {}
    for listing in DPKG.glob("*.list"):
        paths = [pathlib.Path(line) for line in listing.read_text().splitlines()]
        files = [path.relative_to(ROOT) for path in paths if path.is_relative_to(ROOT) and not path.is_dir()]
        if files:
            owned[listing.stem] = sorted(files)
    return owned


def is_metadata(path):
    return path.parts[0].endswith((".dist-info", ".egg-info"))


def metadata_of(distribution):
    """The metadata as a wheel has it: an egg keeps its requirements in a file of its own."""
    text = distribution.read_text("METADATA")
    if text is not None:
        return text
    head, _, body = distribution.read_text("PKG-INFO").partition("\n\n")
    if "\nRequires-Dist:" not in head:
        head += "".join(f"\nRequires-Dist: {requirement}" for requirement in distribution.requires or [])
    return f"{head}\n\n{body}"


def contents_of(distribution, files, info):
    """Pairs of a name in the wheel and its bytes."""
    for path in files:
        if not is_metadata(path):
            yield path.as_posix(), (ROOT / path).read_bytes()
    yield f"{info}/METADATA", metadata_of(distribution).encode()
    for name in ("entry_points.txt", "top_level.txt"):
        text = distribution.read_text(name)
        if text is not None:
            yield f"{info}/{name}", text.encode()


def write_wheel(target, distribution, files):
    name = re.sub(r"[-_.]+", "_", distribution.metadata["Name"]).lower()
    stem = f"{name}-{distribution.version.replace('-', '_')}"
    tag = "py3-none-any"
    if any(path.suffix == ".so" for path in files):
        platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        tag = f"{python}-{python}-{platform}"
    info = f"{stem}.dist-info"
    pure = "true" if tag.endswith("-any") else "false"
    wheel = f"Wheel-Version: 1.0\nGenerator: lab\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
    entries = [*contents_of(distribution, files, info), (f"{info}/WHEEL", wheel.encode())]
    record = ""
    with zipfile.ZipFile(target / f"{stem}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in entries:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f'"{path}",sha256={digest},{len(data)}\n'
            # A ZipInfo of its own has a fixed time, so the same packages give the same wheel.
            archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), record + f"{info}/RECORD,,\n")


def main(target):
    distributions = {}
    for distribution in importlib.metadata.distributions(path=[str(ROOT)]):
        distributions[pathlib.Path(distribution._path).name] = distribution
    for package, files in sorted(files_by_package().items()):
        found = sorted({path.parts[0] for path in files if is_metadata(path)})
        if len(found) > 1:
            sys.exit(f"The package {package} holds several distributions: {', '.join(found)}")
        if found and distributions[found[0]].metadata["Name"] != "pip":
            write_wheel(target, distributions[found[0]], files)


main(pathlib.Path(sys.argv[1]))
