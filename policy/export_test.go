package policy

// Plain returns the file with conditions that programs alone decide: without comparisons of
// members, and without answers that are kept.
func (f *File) Plain() *File {
	plain := *f
	rules := make([]*rule, len(f.rules))
	for i, r := range f.rules {
		copied := *r
		if rules[i] = &copied; r.when != nil {
			when := *r.when
			when.clauses = make([]*clause, len(r.when.clauses))
			for j, of := range r.when.clauses {
				clause := *of
				clause.quick = nil
				when.clauses[j] = &clause
			}
			copied.when = &when
		}
	}
	plain.judge = newJudge(f.words, rules)
	plain.answers, plain.prices = 0, f.prices
	return &plain
}

// Quick returns how many clauses of the file need no program, and how many there are.
func (f *File) Quick() (quick, all int) {
	for _, r := range f.rules {
		for _, clause := range r.when.parts() {
			if all++; clause.quick != nil {
				quick++
			}
		}
	}
	return quick, all
}

// Proved reports whether the file is proved to tighten an earlier one, whatever a search finds.
func (f *File) Proved(old *File) bool {
	for _, change := range f.changes(old) {
		if change.Verdict != verdictTightens {
			return false
		}
	}
	return true
}
