package keystore

import "golang.org/x/sys/unix"

func keepOutOfCoreDumps(pages []byte) { _ = unix.Madvise(pages, unix.MADV_DONTDUMP) }
