//go:build !unix || aix || solaris

package bolt

import "os"

// unlock leaves the lock to the system, which ends it with the process.
func unlock(*os.File) {}
