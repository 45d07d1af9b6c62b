"""What Python makes of our zips, and zips that Python makes for us. Called by zip_store_test.cc."""

import struct
import sys
import zipfile
from pathlib import Path


def check(path: Path):
    """A zip of ours holds what the test wrote: for each member, its name over and over."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len(names) == len(set(names))
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            text = archive.read(info).decode()
            assert text == (info.filename * (len(text) // len(info.filename) + 1))[: len(text)], info.filename
        print(len(names))
    import zarr

    store = zarr.storage.ZipStore(path, mode="r")
    store._sync_open()
    assert sorted(store._zf.namelist()) == sorted(names)


def make(folder: Path):
    """One archive for each thing that an archive can have; `a` is "one", `b/c` is 1000 times "two"."""

    def write(name, method=zipfile.ZIP_STORED, comment=b"", before=b"", streamed=False, folders=False, twice=False):
        class Pipe:  # cannot seek, so that sizes go behind the data
            def __init__(self, file):
                self.write, self.flush = file.write, file.flush

        with open(folder / name, "wb") as file:
            file.write(before)
            with zipfile.ZipFile(Pipe(file) if streamed else file, "w", method) as archive:
                if twice:
                    archive.writestr("a", "old")
                if folders:
                    archive.writestr("b/", "")
                archive.writestr("a", "one")
                with archive.open("b/c", "w", force_zip64=True) as member:
                    member.write(b"two" * 1000)
                archive.comment = comment

    write("stored.zip")
    write("deflated.zip", zipfile.ZIP_DEFLATED)
    write("comment.zip", comment=b"c" * 65535)
    write("streamed.zip", zipfile.ZIP_DEFLATED, streamed=True)
    write("folders.zip", folders=True)
    write("twice.zip", twice=True)
    with zipfile.ZipFile(folder / "many.zip", "w") as archive:
        archive.writestr("a", "one")
        archive.writestr("b/c", "two" * 1000)
        for number in range(66000):
            archive.writestr(zipfile.ZipInfo(f"n/{number}"), b"")
    with zipfile.ZipFile(folder / "odd.zip", "w") as archive:
        for name in ["../up", "/root", "x/../y", "back\\slash", "good"]:
            archive.writestr(name, "x")
    with zipfile.ZipFile(folder / "bzip2.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a", "one" * 1000)
    # The flag of encryption, in the local and in the central header.
    with zipfile.ZipFile(folder / "encrypted.zip", "w") as archive:
        archive.writestr("a", "one")
    bytes_ = bytearray((folder / "encrypted.zip").read_bytes())
    central = bytes_.index(b"PK\1\2")
    struct.pack_into("<H", bytes_, 6, 1)
    struct.pack_into("<H", bytes_, central + 8, 1)
    (folder / "encrypted.zip").write_bytes(bytes_)


if __name__ == "__main__":
    {"check": check, "make": make}[sys.argv[1]](Path(sys.argv[2]))
