package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// HostedPolicy is a policy of the hosted service, as its API gives it.
type HostedPolicy struct {
	Name      string `json:"policyName"`
	Effect    string `json:"effect"` // EFFECT_ALLOW or EFFECT_DENY
	Condition string `json:"condition"`
	Consensus string `json:"consensus"`
	Time      string `json:"time"`
}

// Imported is what became of one hosted policy.
type Imported struct {
	Name    string   // of the rule
	Rule    string   // YAML, empty if it was not carried over
	Notes   []string // what to look at
	Problem string   // why it was not carried over
}

// Import turns policies of the hosted service into a file of this package. The
// JSON is a list of policies, or an object that has one as policies. What cannot
// be carried over is a comment with the reason; the file that remains loads.
func Import(content []byte) (file string, imported []Imported, err error) {
	hosted, err := readHosted(content)
	if err != nil {
		return "", nil, err
	}
	var out strings.Builder
	out.WriteString("schema: " + Schema + "\nrules:\n")
	names := map[string]bool{}
	fees := map[string]bool{}
	for i := range hosted {
		one := importPolicy(&hosted[i], names)
		imported = append(imported, one)
		one.write(&out, &hosted[i])
		if chain, ok := between(one.Rule, "    on: ", "\n"); ok && strings.Contains(one.Rule, "allow: transfer") {
			fees[chain] = true
		}
	}
	for _, chain := range sortedKeys(fees) {
		fmt.Fprintf(&out, "  # The fee is an effect of its own: without a rule for it, nothing above is signed.\n"+
			"  # - {name: fee-%s, allow: fee, on: %s, when: \"effect.amount <= …\"}\n", chain, chain)
	}
	return out.String(), imported, nil
}

func readHosted(content []byte) ([]HostedPolicy, error) {
	var hosted []HostedPolicy
	if err := json.Unmarshal(content, &hosted); err == nil {
		return hosted, nil
	}
	var wrapped struct {
		Policies []HostedPolicy `json:"policies"`
	}
	if err := json.Unmarshal(content, &wrapped); err != nil {
		return nil, fmt.Errorf("policies of the hosted service as JSON are expected: %w", err)
	}
	if wrapped.Policies == nil {
		return nil, errors.New("a list of policies, or an object with policies, is expected")
	}
	return wrapped.Policies, nil
}

// write writes a rule with its notes, or the policy as a comment.
func (i *Imported) write(out *strings.Builder, hosted *HostedPolicy) {
	comment := func(text string) {
		for line := range strings.SplitSeq(text, "\n") {
			out.WriteString("  # " + printableLine(line) + "\n")
		}
	}
	for _, note := range i.Notes {
		comment(note)
	}
	if i.Problem == "" {
		out.WriteString(i.Rule)
		return
	}
	comment("not carried over: " + i.Name + ": " + i.Problem)
	for _, part := range []struct{ name, text string }{{"condition", hosted.Condition}, {"consensus", hosted.Consensus}, {"time", hosted.Time}} {
		if part.text != "" {
			comment("  " + part.name + ": " + part.text)
		}
	}
}

func printableLine(line string) string {
	return strings.Map(func(letter rune) rune {
		if !isPrintable(letter) {
			return ' '
		}
		return letter
	}, line)
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// ruleNameOf makes a rule's name of a policy's, which is free text.
func ruleNameOf(text string, taken map[string]bool) string {
	base := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-")
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

// importPolicy translates one policy, and loads the rule that comes of it.
func importPolicy(hosted *HostedPolicy, taken map[string]bool) Imported {
	made := Imported{Name: ruleNameOf(hosted.Name, taken)}
	t := &translation{deny: hosted.Effect == "EFFECT_DENY"}
	switch {
	case hosted.Effect != "EFFECT_ALLOW" && hosted.Effect != "EFFECT_DENY":
		made.Problem = fmt.Sprintf("effect %q is neither EFFECT_ALLOW nor EFFECT_DENY", shorten(hosted.Effect))
	case hosted.Time != "":
		made.Problem = "its time: write time.within('Mo-Fr 08:00-18:00 Europe/Berlin') into the rule's when"
	}
	if made.Problem != "" {
		return made
	}
	if err := t.translate(hosted); err != nil {
		made.Problem = err.Error()
		return made
	}
	made.Rule, made.Notes = t.rule(made.Name), t.notes
	if _, err := Parse("import", []byte("schema: "+Schema+"\nrules:\n"+made.Rule), Options{}); err != nil {
		var problems *Error
		if errors.As(err, &problems) {
			made.Problem, made.Rule, made.Notes = problems.Problems[0].Message, "", nil
		}
	}
	return made
}

// rule writes what was translated as a rule.
func (t *translation) rule(name string) string {
	verb, kind := "allow", "request"
	if t.deny {
		verb = "deny"
	}
	if t.effects {
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

// translation is one policy on its way.
type translation struct {
	deny      bool
	effects   bool   // it became a rule on transfers
	chain     string // that it is about
	who       string
	when      []string
	approvals []string
	notes     []string
	scope     map[string]string // what a variable of a macro is
}
