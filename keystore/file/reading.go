package file

import "sync"

// ReadStep is how many key files are read between two calls of Options.OnRead.
const ReadStep = 256

// reading counts key files while they are read.
type reading struct {
	mu          sync.Mutex
	read, total int
	tell        func(read, total int)
}

// one counts a file. Few files are not worth telling of.
func (r *reading) one() {
	if r.tell == nil || r.total < ReadStep {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read++
	if r.read%ReadStep == 0 || r.read == r.total {
		r.tell(r.read, r.total)
	}
}
