package ballot

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/store"
)

// Policy is a policy that demands votes for everything.
type Policy struct {
	mu       sync.Mutex
	Groups   []access.Group
	Refusal  error
	Unjudged bool // no rule judges
	Panics   int  // so many calls of Decide panic
	Charges  []store.Charge
	Beyond   []access.Group // demanded instead when a limit is exceeded; nil refuses
}

// Authorize implements access.Policy.
func (p *Policy) Authorize(ctx context.Context, asked access.Authorization) error {
	_, err := p.Decide(ctx, asked)
	return err
}

// Decide implements access.Decider.
func (p *Policy) Decide(ctx context.Context, asked access.Authorization) (access.Decision, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Panics > 0 {
		p.Panics--
		panic("a faulty policy")
	}
	if p.Unjudged {
		return access.Decision{}, p.Refusal
	}
	for _, charge := range p.Charges {
		if asked.Spent == nil {
			continue
		}
		spent, _, err := asked.Spent.Spent(ctx, asked.Organization.ID, charge)
		if err == nil && spent.Add(spent, charge.Amount).Cmp(charge.Max) > 0 {
			if p.Beyond != nil {
				return access.Decision{Digest: [32]byte{1}, Rules: []string{"large"}, Approvals: slices.Clone(p.Beyond)}, nil
			}
			err = fmt.Errorf("%w: limit %s", access.ErrDenied, charge.Limit)
		}
		if err != nil {
			return access.Decision{}, err
		}
	}
	return access.Decision{Digest: [32]byte{1}, Rules: []string{"payouts"}, Approvals: slices.Clone(p.Groups),
		Charges: slices.Clone(p.Charges)}, p.Refusal
}

// Set changes the policy while requests are judged.
func (p *Policy) Set(change func(p *Policy)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}
