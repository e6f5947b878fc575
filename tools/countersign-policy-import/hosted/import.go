// Package hosted turns policies of the hosted service into a policy file.
//
// The hosted service's expressions are nearly CEL, with any for exists, count() for
// size(), contains() for in, and slices. [Import] translates each policy into a rule and
// loads it. An allow that has no equivalent becomes a comment with the reason; a deny
// becomes one that denies every activity that it may have named, so that nothing is
// allowed that it denied.
package hosted

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/syntax"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
)

// source is a policy as the hosted service's API returns it.
type source struct {
	Name      string `json:"policyName"`
	Effect    string `json:"effect"` // EFFECT_ALLOW or EFFECT_DENY
	Condition string `json:"condition"`
	Consensus string `json:"consensus"`
	Time      string `json:"time"`
}

// Imported is the outcome of importing one policy.
type Imported struct {
	Name    string   // of the rule
	Rule    string   // the rule in YAML; empty for an allow that was not translated
	Notes   []string // what the operator should review
	Problem string   // why the policy was not translated

	transfersOn string // the chain whose transfers the rule allows
}

// Import translates policies of the hosted service into a policy file. content is
// JSON: a list of policies, or an object that has one as policies. The returned file
// always loads.
func Import(content []byte) (file string, imported []Imported, err error) {
	sources, err := readSources(content)
	if err != nil {
		return "", nil, err
	}
	var out strings.Builder
	out.WriteString(policy.SchemaLine + "schema: " + policy.Schema + "\nrules:\n")
	names := map[string]bool{}
	needFee := map[string]bool{} // chains
	for i := range sources {
		policy := importPolicy(&sources[i], names)
		imported = append(imported, policy)
		policy.write(&out, &sources[i])
		if policy.transfersOn != "" {
			needFee[policy.transfersOn] = true
		}
	}
	for _, chain := range slices.Sorted(maps.Keys(needFee)) {
		fmt.Fprintf(&out, "  # The fee is an effect of its own: without a rule for it, nothing above is signed.\n"+
			"  # - {name: fee-%s, allow: fee, on: %s, when: \"effect.amount <= …\"}\n", chain, chain)
	}
	return out.String(), imported, nil
}

func readSources(content []byte) ([]source, error) {
	var sources []source
	if err := json.Unmarshal(content, &sources); err == nil {
		return sources, nil
	}
	var wrapped struct {
		Policies []source `json:"policies"`
	}
	if err := json.Unmarshal(content, &wrapped); err != nil {
		return nil, fmt.Errorf("expected policies of the hosted service in JSON: %w", err)
	}
	if wrapped.Policies == nil {
		return nil, errors.New("expected a list of policies, or an object with policies")
	}
	return wrapped.Policies, nil
}

// write writes the rule with its notes, or the policy as a comment.
func (i *Imported) write(out *strings.Builder, from *source) {
	comment := func(text string) {
		for line := range strings.SplitSeq(text, "\n") {
			out.WriteString("  # " + syntax.Printable(line) + "\n")
		}
	}
	for _, note := range i.Notes {
		comment(note)
	}
	if i.Problem == "" {
		out.WriteString(i.Rule)
		return
	}
	defer out.WriteString(i.Rule)
	comment("not carried over: " + i.Name + ": " + i.Problem)
	if i.Rule != "" {
		comment("  it may deny, so the rule below denies all that it may have named: rewrite it")
	}
	for _, member := range []struct{ name, text string }{{"condition", from.Condition}, {"consensus", from.Consensus},
		{"time", from.Time}} {
		if member.text != "" {
			comment("  " + member.name + ": " + member.text)
		}
	}
}

var notInNames = plaintext.NewPattern(`[^a-z0-9]+`)

// ruleName derives a unique rule name from a policy's name, which is free text.
func ruleName(text string, taken map[string]bool) string {
	base := strings.Trim(notInNames.Regexp().ReplaceAllString(strings.ToLower(text), "-"), "-")
	if base == "" {
		base = "policy"
	}
	base = base[:min(len(base), 48)]
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	taken[name] = true
	return name
}

// importPolicy translates one policy and loads the resulting rule.
func importPolicy(from *source, taken map[string]bool) Imported {
	result := Imported{Name: ruleName(from.Name, taken)}
	t := &translation{deny: from.Effect == "EFFECT_DENY", scope: map[string]variable{}}
	switch {
	case from.Effect != "EFFECT_ALLOW" && from.Effect != "EFFECT_DENY":
		result.Problem = fmt.Sprintf("effect %q is neither EFFECT_ALLOW nor EFFECT_DENY", from.Effect)
	case from.Time != "":
		result.Problem = "its time: write time.within('Mo-Fr 08:00-18:00 Europe/Berlin') into the rule's when"
	default:
		if err := t.translate(from); err != nil {
			result.Problem = err.Error()
		}
	}
	rule := t.rule(result.Name)
	if result.Problem == "" {
		result.Problem = problemOf(rule)
	}
	switch {
	case result.Problem == "":
		result.Rule, result.Notes = rule, t.notes
		if t.transfers {
			result.transfersOn = t.chain
		}
	case from.Effect != "EFFECT_ALLOW":
		denial := translation{deny: true, chain: onlyChain(from.Condition)}
		result.Rule = denial.rule(result.Name)
	}
	return result
}

// problemOf says why a rule does not load. It returns "" if it does.
func problemOf(rule string) string {
	options := policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...)}
	_, err := policy.Parse("import", []byte("schema: "+policy.Schema+"\nrules:\n"+rule), options)
	if problems, ok := errors.AsType[*policy.Error](err); ok {
		return problems.Problems[0].Message
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

var (
	quotedText = plaintext.NewPattern(`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`)
	rootName   = plaintext.NewPattern(`(?:^|[^.\w])([A-Za-z_]\w*)`)
	widening   = plaintext.NewPattern(`\|\||!(?:[^=]|$)|\?|['"]`) // what may make a condition hold for others
)

// onlyChain returns the chain whose transactions alone a condition can match, as far as
// its text shows. It returns "" if it may match others.
func onlyChain(condition string) (only string) {
	text := quotedText.Regexp().ReplaceAllString(condition, "0")
	names := rootName.Regexp().FindAllStringSubmatch(text, -1)
	if widening.MatchString(text) || len(names) == 0 {
		return ""
	}
	for _, name := range names {
		chain := chainsByRoot[name[1]]
		if chain == "" || only != "" && chain != only {
			return ""
		}
		only = chain
	}
	return only
}

// translation is one policy while it is translated.
type translation struct {
	deny      bool
	transfers bool   // the rule is about transfers, not the whole request
	chain     string // empty: all chains
	who       string
	when      []string // clauses to join with &&
	approvals []string
	notes     []string
	scope     map[string]variable
}

// variable is a macro's variable in scope.
type variable struct {
	element string // what it ranges over, such as "transfer"
	effect  bool   // it stands for effect, because the rule is about transfers
}

// rule writes the translation as a rule.
func (t *translation) rule(name string) string {
	verb, kind := "allow", "request"
	if t.deny {
		verb = "deny"
	}
	if t.transfers {
		kind = "transfer"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "  - name: %s\n    %s: %s\n", name, verb, kind)
	if t.chain != "" {
		fmt.Fprintf(&out, "    on: %s\n", t.chain)
	}
	if t.who != "" {
		fmt.Fprintf(&out, "    who: %s\n", t.who)
	}
	if len(t.when) > 0 {
		fmt.Fprintf(&out, "    when: %s\n", yamlText(strings.Join(t.when, " && ")))
	}
	if len(t.approvals) > 0 {
		fmt.Fprintf(&out, "    approvals: [%s]\n", strings.Join(t.approvals, ", "))
	}
	return out.String()
}

func yamlText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
