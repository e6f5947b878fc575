package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// What a change does, or all of them together.
const (
	verdictSame     = "no change"
	verdictTightens = "tightens" // proved: whatever is asked, in any state of the limits and with any votes
	verdictWidens   = "widens"   // a request was found of which more is allowed
	verdictBoth     = "both"     // and one of which less is allowed
	verdictUnknown  = "cannot say"
)

// Difference is how the decisions of a file differ from those of an earlier one.
type Difference struct {
	Verdict string       `json:"verdict"`
	Changes []Change     `json:"changes"`
	Witness string       `json:"witness,omitempty"` // of widens and both: the request, written as a test of a file
	Before  *Explanation `json:"before,omitempty"`  // of the witness
	After   *Explanation `json:"after,omitempty"`
}

// Change is a rule that is not the same, or something of the file.
type Change struct {
	Line    int    `json:"line"` // in the later file; in the earlier one if the rule is gone
	Rule    string `json:"rule,omitempty"`
	What    string `json:"what"` // its members
	Verdict string `json:"verdict"`
}

// Since compares the file with an earlier one that was read with the same options. From the rules of
// the earlier it goes to its own, the last first: if each step is proved to tighten, all do. Of what is
// not proved it looks for a witness. That a request takes too many steps to judge is compared only as
// far as files say how many effects they judge.
func (f *File) Since(old *File) *Difference {
	d := &Difference{Changes: f.changes(old)}
	d.judge(old, f)
	return d
}

// changes returns the changes, and which are proved to tighten.
func (f *File) changes(old *File) []Change {
	rules, changes := slices.Clone(old.rules), []Change{}
	add := func(r *rule, what string, proved bool) {
		changes = append(changes, Change{max(r.place.Line, 1), r.name, what, verdictUnknown})
		if proved {
			changes[len(changes)-1].Verdict = verdictTightens
		}
	}
	for at, from := range slices.Backward(old.rules) {
		to := f.ruleLike(from)
		proved := tightens(rules, at, to)
		if to == nil {
			add(from, "gone", proved)
			rules = slices.Delete(rules, at, at+1)
			continue
		}
		rules[at] = to
		if !proved || !tightens(rules, at, from) {
			add(to, from.differences(to), proved)
		}
	}
	for i, a := range rules {
		for _, b := range rules[i+1:] {
			if a.index > b.index && a.meets(b) {
				add(a, "order: no longer before "+b.name, false)
			}
		}
	}
	for _, to := range f.rules {
		if old.ruleLike(to) == nil {
			add(to, "new", to.deny)
		}
	}
	before, after := cmp.Or(old.prices, new(priceList)), cmp.Or(f.prices, new(priceList))
	if before.from != after.from || before.maxAge != after.maxAge || before.digest != after.digest {
		add(&rule{place: after.place}, "prices", false)
	}
	if len(changes) > 0 && old.effects < chains.MaxEffects {
		add(new(rule), fmt.Sprintf("the earlier file judges %d effects, this %d", old.effects, f.effects), false)
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Line, b.Line) })
	return changes
}

// MayWiden reports whether the file is not proved to allow no more than the earlier one.
func (d *Difference) MayWiden() bool { return d.Verdict != verdictSame && d.Verdict != verdictTightens }

// ruleLike returns the rule of that name that denies or allows as a rule does, nil if there is none.
func (f *File) ruleLike(r *rule) *rule {
	isLike := func(other *rule) bool { return r.name == other.name && r.deny == other.deny }
	if at := slices.IndexFunc(f.rules, isLike); at >= 0 {
		return f.rules[at]
	}
	return nil
}

// differences names the members that differ in two rules.
func (r *rule) differences(to *rule) string {
	var names []string
	add := func(name string, same bool) {
		if !same {
			names = append(names, name)
		}
	}
	alike := func(a, b *clause) bool { return a.meaning() == b.meaning() }
	add("kinds", r.request == to.request && slices.Equal(r.kinds, to.kinds))
	add("on", slices.Equal(r.on, to.on))
	add("who", reflect.DeepEqual(r.who, to.who))
	add("of", r.of == to.of)
	add("chains", slices.Equal(r.networks, to.networks))
	add("key", slices.Equal(r.keys, to.keys))
	add("when", slices.EqualFunc(r.when.parts(), to.when.parts(), alike))
	add("limit", slices.EqualFunc(r.limits, to.limits, same))
	add("hazards", slices.Equal(r.hazards, to.hazards))
	add("approvals", reflect.DeepEqual(r.approvals, to.approvals))
	add("others", r.others == to.others)
	add("alone", r.alone == to.alone)
	add("each or bundle", r.bundle == to.bundle)
	return strings.Join(names, ", ")
}

// judge completes the verdicts by a search. A change of a rule widens if more is allowed of a request
// by that rule, or because it no longer refuses.
func (d *Difference) judge(old, f *File) {
	d.Verdict = verdictSame
	if len(d.Changes) == 0 {
		return
	}
	more, less := d.search(old, f)
	verdict := func(more, less bool) string {
		if more && less {
			return verdictBoth
		}
		return map[bool]string{true: verdictWidens, false: verdictUnknown}[more]
	}
	d.Verdict = verdictTightens
	for i := range d.Changes {
		if change := &d.Changes[i]; change.Verdict != verdictTightens {
			d.Verdict, change.Verdict = verdictUnknown, verdict(more[change.Rule], less[change.Rule])
		}
	}
	if d.Witness != "" {
		d.Verdict = verdict(true, len(less) > 0)
	}
}

// String formats the difference for people.
func (d *Difference) String() string {
	var out strings.Builder
	for i := range d.Changes {
		of := &d.Changes[i]
		fmt.Fprintf(&out, "line %d, %s: %s: %s\n", of.Line, cmp.Or(of.Rule, "the file"), of.What, of.Verdict)
	}
	fmt.Fprintf(&out, "%s\n", d.Verdict)
	if d.Witness != "" {
		fmt.Fprintf(&out, "\nwitness: %s\nbefore: %safter: %s", d.Witness, d.Before, d.After)
	}
	return out.String()
}

// Bounds of a search for a witness: requests, and steps to judge them.
const (
	maxDrawn      = 5000
	maxDrawnSteps = 20 * maxSteps
)

// search judges the requests of both files' tests, and others made of those and of what the files
// name: the same ones each time. It returns the rules by which more and less is allowed.
func (d *Difference) search(old, f *File) (more, less map[string]bool) {
	ctx, files, drawn := context.Background(), [2]*File{old.timeless(), f.timeless()}, newDrawing(old, f)
	more, less = map[string]bool{}, map[string]bool{}
	var shortest *access.Authorization // of which more is allowed
	for n, steps := 0, uint64(0); n < maxDrawn && steps < maxDrawnSteps; n++ {
		asked := drawn.request(n)
		var outcome [2]int // 0 if it is denied, 1 if it waits for votes, 2 if it is allowed
		var by []string
		for i, file := range files {
			c := file.cover(ctx, &asked)
			decision, err := c.decide()
			by, steps = append(by, decision.Rules...), steps+c.evaluation.steps
			switch denial, is := errors.AsType[*Denial](err); {
			case is:
				by = append(by, denial.Rule)
			case missingAny(&decision, &asked):
				outcome[i] = 1
			default:
				outcome[i] = 2
			}
		}
		found := more
		switch {
		case outcome[0] == outcome[1]:
			continue
		case outcome[0] > outcome[1]:
			found = less
		case shortest == nil || size(&asked) < size(shortest):
			shortest = &asked
		}
		for _, rule := range by {
			found[rule] = rule != "" // no rule covers an effect, which says nothing of what the file has besides
		}
	}
	if shortest != nil {
		d.Witness = requestText(shortest)
		d.Before, _ = files[0].Explain(ctx, *shortest) // what was spent is in no store that could fail
		d.After, _ = files[1].Explain(ctx, *shortest)
	}
	return more, less
}

func size(asked *access.Authorization) int { return len(asked.Effects) + len(asked.Votes) }

// requestText says of a request what its explanation does not.
func requestText(asked *access.Authorization) string {
	text := fmt.Sprintf("as %s, tags %q, at %s", asked.User.Name, asked.User.Tags, shownTime(asked.Now))
	for i := range asked.Keys {
		text += ", key " + asked.Keys[i].Name
	}
	if spent, _ := asked.Spent.(spentSoFar); len(spent) > 0 {
		text += fmt.Sprintf(", spent in smallest units %v", map[string]*big.Int(spent))
	}
	for i := range asked.Votes {
		text += fmt.Sprintf(", vote of %s, tags %q", asked.Votes[i].User.Name, asked.Votes[i].User.Tags)
	}
	return text
}

// drawing has what requests are drawn from: requests, and values of any type that is in one, by type.
type drawing struct {
	*rand.Rand
	values map[reflect.Type][]any
}

func newDrawing(files ...*File) *drawing {
	d := &drawing{rand.New(rand.NewPCG(1, 1)), map[reflect.Type][]any{}}
	add := func(values ...any) {
		for _, value := range values {
			of := reflect.TypeOf(value)
			d.values[of] = append(d.values[of], value)
		}
	}
	add(chains.Native("eip155:1"))
	drawn := map[*list]bool{}
	for _, file := range files {
		user := func(name, tag string) access.User {
			if known, ok := file.User(name); ok {
				return known
			}
			return access.User{ID: name, Name: name, Tags: strings.Fields(tag)}
		}
		for _, asset := range file.assets {
			add(asset.Asset)
		}
		for _, test := range file.tests {
			add(test.asked)
		}
		for _, name := range sortedKeys(file.limits) {
			add(file.limits[name], file.limits[name].max)
		}
		for _, r := range file.rules {
			for _, key := range r.keys {
				add([]access.SigningKey{{ID: key, Name: key}})
			}
			asked := access.Authorization{Chain: strings.Join(r.on, ""), User: user("ann", "")}
			asked.Intent = activity.SignTransactionIntent{}
			if r.who != nil {
				for _, name := range slices.Concat(r.who.users, []string{"ann"}) {
					asked.User = user(name, r.who.tag)
					add(asked.User)
				}
			}
			for _, kind := range r.kinds {
				asked.Effects = []chains.Effect{{Kind: kind, By: chains.BySigner, Controlled: chains.ControlledNo}}
				pick(d, 1, &asked.Effects[0].Asset)
				add(asked, asked.User)
			}
			for i, group := range r.approvals {
				for seat, name := range slices.Concat(group.Users, make([]string, group.Count)) {
					add(user(cmp.Or(name, fmt.Sprintf("voter %d.%d of %s", i, seat, r.name)), group.Tag))
				}
			}
			for _, clause := range r.when.parts() {
				add(clause.values(drawn)...)
			}
		}
	}
	return d
}

// values returns the amounts that a clause compares with, those above, and parties of it and its
// lists, of each list once.
func (c *clause) values(drawn map[*list]bool) (values []any) {
	for _, name := range sortedKeys(c.in.lists) {
		if list := c.in.lists[name]; !drawn[list] && strings.Contains(c.source, name) {
			drawn[list] = true
			for _, address := range list.addresses {
				values = append(values, address.party())
			}
		}
	}
	for _, text := range strings.Split(c.source, `"`) {
		if address, err := c.in.words.readAddress(text); err == nil {
			values = append(values, address.party())
		}
	}
	if c.quick != nil {
		if value, is := c.quick.with.(*amount); is {
			values = append(values, value.value, new(big.Int).Add(value.value, big.NewInt(1)))
		}
	}
	return values
}

// pick sets something to a value of its type, once in a number of times.
func pick[T any](d *drawing, times int, into *T) {
	if of := d.values[reflect.TypeFor[T]()]; len(of) > 0 && d.IntN(times) == 0 {
		*into = of[d.IntN(len(of))].(T)
	}
}

// request draws a request, in which something may be another than in those of tests and rules. The
// first are those.
func (d *drawing) request(n int) (asked access.Authorization) {
	if known := d.values[reflect.TypeFor[access.Authorization]()]; n < len(known) {
		return known[n].(access.Authorization)
	}
	var other access.Authorization
	pick(d, 1, &asked)
	pick(d, 6, &other)
	asked.Effects = slices.Concat(asked.Effects, other.Effects)
	pick(d, 5, &asked.User)
	pick(d, 5, &asked.Keys)
	if asked.Now.IsZero() {
		asked.Now = time.Date(2026, 1, 5, d.IntN(7*24), 30, 0, 0, time.UTC)
	}
	for i := range asked.Effects {
		effect := &asked.Effects[i]
		amount, times := effect.Amount.Value, 6
		if amount == nil {
			times = 1 + d.IntN(2) // it is one of a rule, which has none of these yet
		}
		pick(d, times, &effect.To)
		pick(d, times, &effect.Asset)
		if pick(d, min(times, 3), &amount); amount != nil {
			effect.Amount = chains.Exactly(amount)
		}
	}
	spent := spentSoFar{}
	for range d.IntN(4) {
		limit, left := (*limit)(nil), new(big.Int)
		if pick(d, 1, &limit); limit != nil {
			pick(d, 2, &left)
			spent[limit.name] = new(big.Int).Sub(limit.max, slices.MinFunc([]*big.Int{left, limit.max}, (*big.Int).Cmp))
		}
	}
	asked.Spent, asked.Votes = spent, slices.Clone(asked.Votes)
	for range d.IntN(4) * d.IntN(4) {
		vote := access.Vote{At: asked.Now}
		pick(d, 1, &vote.User)
		asked.Votes = append(asked.Votes, vote)
	}
	return asked
}
