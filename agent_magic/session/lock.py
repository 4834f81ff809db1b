"""A lock on an open file, held by one process at a time and given back by the system when that process ends."""

from __future__ import annotations

import errno
import os
import sys

# Far behind the end of any file: on Windows a locked byte cannot be read by others.
_BYTE = 1 << 40
# How file systems say that they keep no locks.
_NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK}


def lock(descriptor: int) -> bool:
    """Lock the file; False when another process, or another opening of it in this one, holds it.

    Where the file system keeps no locks this does nothing and is True.
    """
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_END)
        return True

    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _NO_LOCKS
    return True
