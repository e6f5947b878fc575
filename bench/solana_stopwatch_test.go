package bench

import (
	"slices"
	"time"
)

// stopwatch keeps the time of each lap: the median of many is not moved by what
// else the machine does.
type stopwatch struct{ laps []time.Duration }

func (w *stopwatch) lap(do func()) {
	begin := time.Now()
	do()
	w.laps = append(w.laps, time.Since(begin))
}

func (w *stopwatch) median() float64 {
	slices.Sort(w.laps)
	return float64(w.laps[len(w.laps)/2])
}
