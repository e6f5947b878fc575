package serve

import (
	"cmp"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/rpcapi"
)

// serverGCPercent is the garbage collector's target of a server. Its live memory is a few
// megabytes, of which each request allocates a hundredth: at Go's default of 100 the
// collector runs dozens of times a second. The environment variable GOGC takes precedence.
const serverGCPercent = 400

// memoryMargin is what a server may use beyond what is live after its start and the budgets of
// its clients: the collector needs room, and connections have buffers.
const memoryMargin = 48 << 20

// limitMemory limits the memory of the process to what it needs: what is live, the budgets of
// all doors, which no other door uses up, and a margin. Without a limit the heap would grow to five
// times of what is live. The environment variable GOMEMLIMIT takes precedence.
func limitMemory(configured *config.Config) {
	if _, set := os.LookupEnv("GOMEMLIMIT"); set {
		return
	}
	runtime.GC()
	var live runtime.MemStats
	runtime.ReadMemStats(&live)
	requests := cmp.Or(configured.Limits.RequestBytes, httpapi.DefaultMaxBufferedBytes)
	answers := cmp.Or(configured.Limits.AnswerBytes, httpapi.DefaultMaxAnswerBytes)
	if configured.RPC != nil {
		requests += rpcapi.DefaultMaxBufferedBytes
	}
	debug.SetMemoryLimit(int64(live.HeapAlloc) + int64(requests) + int64(answers) + memoryMargin)
}
