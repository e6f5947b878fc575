package measure

import "testing"

// growthRounds is the number of rounds of which a growth is the median.
const growthRounds = 17

// Sizes is the same operation at a small and at a large size.
type Sizes struct{ Small, Large func(i int) }

// Growth reports how much more expensive a call is at the large size than at the small
// one, for ours and for theirs, as medians over interleaved rounds:
//
//	growth-ours    cost of a call of ours: at the large size divided by at the small
//	growth-theirs  the same for theirs
//	growth-ratio   growth-ours divided by growth-theirs: 1 if ours grows no faster
//	ns/ours        one call of ours at the large size
//	ns/theirs      one call of theirs at the large size
func Growth(b *testing.B, ours, theirs Sizes) {
	b.Helper()
	var lanes [4]lane
	for i, f := range []func(int){ours.Small, ours.Large, theirs.Small, theirs.Large} {
		lanes[i].timer = Calls(f)
		lanes[i].calibrate()
	}
	var ourGrowth, theirGrowth, ratios []float64
	for round := range Repeats(growthRounds) {
		for i := range lanes {
			lanes[(i+round)%len(lanes)].run()
		}
		ourGrowth = append(ourGrowth, lanes[1].perCall[round]/lanes[0].perCall[round])
		theirGrowth = append(theirGrowth, lanes[3].perCall[round]/lanes[2].perCall[round])
		ratios = append(ratios, ourGrowth[round]/theirGrowth[round])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(Median(ourGrowth), "growth-ours")
	b.ReportMetric(Median(theirGrowth), "growth-theirs")
	b.ReportMetric(Median(ratios), "growth-ratio")
	b.ReportMetric(Median(lanes[1].perCall), "ns/ours")
	b.ReportMetric(Median(lanes[3].perCall), "ns/theirs")
}
