package ur

// sampler draws numbers with given probabilities, by the alias method of Walker and
// Vose in the order of BCR-2024-001. Its results decide which fragments are mixed, so it
// must round as every other implementation does: an explicit conversion prevents each
// product from being fused into a sum.
type sampler struct {
	probability []float64
	alias       []int
}

// newSampler returns a sampler for weights, at least one of which is positive.
func newSampler(weights []float64) *sampler {
	n := len(weights)
	sum := 0.0
	for _, weight := range weights {
		sum += weight
	}
	scaled := make([]float64, n)
	var small, large []int
	for i := n - 1; i >= 0; i-- {
		scaled[i] = float64(weights[i]*float64(n)) / sum
		if scaled[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	s := &sampler{make([]float64, n), make([]int, n)}
	for len(small) > 0 && len(large) > 0 {
		low, high := pop(&small), pop(&large)
		s.probability[low], s.alias[low] = scaled[low], high
		scaled[high] += float64(scaled[low] - 1)
		if scaled[high] < 1 {
			small = append(small, high)
		} else {
			large = append(large, high)
		}
	}
	for _, rest := range [...][]int{large, small} { // small is nonempty only because of rounding
		for _, i := range rest {
			s.probability[i] = 1
		}
	}
	return s
}

func pop(stack *[]int) int {
	last := len(*stack) - 1
	top := (*stack)[last]
	*stack = (*stack)[:last]
	return top
}

// draw returns a number from 0 to n−1.
func (s *sampler) draw(from *random) int {
	first, second := from.fraction(), from.fraction()
	drawn := index(first, len(s.probability))
	if second < s.probability[drawn] {
		return drawn
	}
	return s.alias[drawn]
}
