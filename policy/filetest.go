package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// fileTest is a test of the file: a request, and what must become of it.
type fileTest struct {
	node
	at          place
	transaction string
	kind        string
	file        string
	effects     []chains.Effect
	hasEffects  bool
	readings    chains.Readings
	hazards     []chains.Hazard
	chain       string
	user        countersign.User
	key         string
	now         time.Time
	spent       map[string]*big.Int // by the name of a limit
	votes       []string
	expect      string
	rule        string
}

// What a test can expect.
const (
	expectAllow     = "allow"
	expectDeny      = "deny"
	expectApprovals = "approvals"
)

func (c *compiler) readTest(n node) {
	made := &fileTest{node: n, at: n.at(), spent: map[string]*big.Int{}}
	n.fields("a test", map[string]func(node){
		"transaction": func(n node) { made.transaction = n.text("transaction") },
		"type":        func(n node) { made.kind = n.text("type") },
		"file":        func(n node) { made.file = n.text("file") },
		"effects":     func(n node) { made.hasEffects = true; c.readTestEffects(made, n) },
		"on":          func(n node) { made.chain = n.text("on") },
		"hazards":     func(n node) { made.hazards = readTestHazards(n) },
		"as":          func(n node) { made.user = c.testUser(n, made.user.Tags) },
		"tags":        func(n node) { made.user.Tags = textsOf(n, "tags") },
		"key":         func(n node) { made.key = n.text("key") },
		"at":          func(n node) { made.now = n.instant("at") },
		"spent":       func(n node) { c.readSpent(made, n) },
		"votes":       func(n node) { made.votes = textsOf(n, "votes") },
		"expect":      func(n node) { made.expect = n.text("expect") },
		"rule":        func(n node) { made.rule = n.text("rule") },
	})
	given := 0
	for _, set := range []bool{made.transaction != "", made.file != "", made.hasEffects} {
		if set {
			given++
		}
	}
	switch {
	case !slices.Contains([]string{expectAllow, expectDeny, expectApprovals}, made.expect):
		n.fail("a test expects allow, deny or approvals")
	case given != 1:
		n.fail("a test has one of transaction, file and effects")
	case made.transaction != "" && made.kind == "":
		n.fail("a transaction needs its type, such as TRANSACTION_TYPE_ETHEREUM")
	case made.rule != "" && !slices.Contains(c.file.Rules(), made.rule):
		n.fail("%s", meant("there is no rule "+shorten(made.rule), made.rule, c.file.Rules()))
	case made.now.IsZero() && c.looksAtTime():
		n.fail("a rule looks at the time: say when this is asked, such as at: 2026-11-23T09:00:00Z")
	}
	c.tests = append(c.tests, made)
}

func (c *compiler) looksAtTime() bool {
	return slices.ContainsFunc(c.file.rules, func(r *rule) bool { return r.when != nil && r.when.looksAt["time"] })
}

func textsOf(n node, what string) []string {
	var texts []string
	for _, item := range n.texts(what) {
		texts = append(texts, item.text(what))
	}
	return texts
}

func readTestHazards(n node) []chains.Hazard {
	var hazards []chains.Hazard
	for _, item := range n.texts("hazards") {
		name := item.text("hazards")
		if !slices.Contains(countersign.HazardNames(), name) {
			item.fail("%s", meant("there is no hazard "+shorten(name), name, countersign.HazardNames()))
		}
		hazards = append(hazards, chains.Hazard{Name: name})
	}
	return hazards
}

// testUser is a user by name. Where users are not known, it is one that the
// test describes.
func (c *compiler) testUser(n node, tags []string) countersign.User {
	name := n.text("as")
	if c.options.Names == nil {
		return countersign.User{ID: name, Name: name, Tags: tags}
	}
	for _, user := range c.options.Names.Users {
		if user.ID == name || user.Name == name {
			return user
		}
	}
	n.fail("there is no user %s", shorten(name))
	return countersign.User{}
}

func (c *compiler) readSpent(made *fileTest, n node) {
	for _, one := range n.pairs("spent") {
		limit, ok := c.file.limits[one.name]
		if !ok {
			c.problems.add(one.at, "", "%s", meant("there is no limit "+shorten(one.name), one.name, sortedKeys(c.file.limits)))
			continue
		}
		value, err := parseUnits(one.text("spent"), max(limit.asset.decimals, 0))
		if err != nil {
			one.fail("spent: %v", err)
			continue
		}
		made.spent[one.name] = value
	}
}

// readTestEffects reads effects that are written out: a test of what a rule
// says, without a transaction that does it.
func (c *compiler) readTestEffects(made *fileTest, n node) {
	for i, item := range n.items("effects") {
		effect := chains.Effect{By: chains.BySigner, Path: fmt.Sprintf("effect %d", i)}
		var decimals int
		var amount node
		item.fields("an effect", map[string]func(node){
			"kind": func(n node) {
				if effect.Kind = chains.Kind(n.text("kind")); !slices.Contains(chains.Kinds(), effect.Kind) {
					n.fail("%s", meant(shorten(string(effect.Kind))+" is no kind of effect", string(effect.Kind), kindNames()))
				}
			},
			"from":      func(n node) { effect.From = readParty(n) },
			"to":        func(n node) { effect.To = readParty(n) },
			"account":   func(n node) { effect.Account = readParty(n) },
			"asset":     func(n node) { effect.Asset, decimals = c.testAsset(n) },
			"amount":    func(n node) { amount = n },
			"by":        func(n node) { effect.By = chains.By(n.text("by")) },
			"function":  func(n node) { effect.Function = n.text("function") },
			"undecoded": func(n node) { effect.Undecoded = n.boolean("undecoded") },
			"change":    func(n node) { effect.Change = n.boolean("change") },
			"reading":   func(n node) { made.readings = append(made.readings, readTestReading(n, effect.Path)) },
		})
		if amount.Node != nil {
			effect.Amount = readTestAmount(amount, decimals)
		}
		if effect.Kind == "" {
			item.fail("an effect needs a kind")
		}
		made.effects = append(made.effects, effect)
	}
}

func readParty(n node) chains.Party {
	text := n.text("address")
	if text == "unknown" {
		return chains.UnknownParty()
	}
	read, err := parseAddress(text)
	if err != nil {
		n.fail("%v", err)
		return chains.Party{}
	}
	return chains.PartyWritten([]byte(read.bytes), read.text)
}

// testAsset is an asset of the file by name, or the native asset of a chain.
func (c *compiler) testAsset(n node) (chains.Asset, int) {
	name := n.text("asset")
	if found, ok := c.assets[name]; ok {
		return found.Asset, found.decimals
	}
	if native, ok := nativeDecimals[namespaceOf(name)]; ok && chainID.MatchString(name) {
		return chains.Native(name), native
	}
	if token, ok := strings.CutPrefix(name, "token "); ok {
		chain, address, _ := strings.Cut(token, " ")
		if read, err := parseAddress(address); err == nil {
			return chains.Token(chain, chains.PartyWritten([]byte(read.bytes), read.text), ""), 0
		}
	}
	n.fail("%s", meant("there is no asset "+shorten(name), name, sortedKeys(c.assets)))
	return chains.Asset{}, 0
}

func readTestAmount(n node, decimals int) chains.Quantity {
	switch text := n.text("amount"); text {
	case "unlimited":
		return chains.Unlimited(nil)
	case "unknown":
		return chains.UnknownQuantity()
	case "all":
		return chains.All()
	default:
		value, err := parseUnits(text, decimals)
		if err != nil {
			n.fail("amount: %v", err)
			return chains.Quantity{}
		}
		return chains.Exactly(value)
	}
}

// runTests runs the file's own tests. A test that fails is a problem of the file.
func (c *compiler) runTests() {
	for _, test := range c.tests {
		asked, err := c.request(test)
		if err != nil {
			c.problems.add(test.at, "", "the test cannot be run: %v", err)
			continue
		}
		decision, err := c.file.Decide(context.Background(), *asked)
		if problem := test.judge(decision, err, asked); problem != "" {
			c.problems.add(test.at, "", "the test fails: %s", problem)
		}
	}
}

// judge compares what was decided with what the test expects.
func (t *fileTest) judge(decision countersign.Decision, err error, asked *countersign.Authorization) string {
	var denial *Denial
	var exceeded *countersign.LimitExceeded
	rules := decision.Rules
	got := expectAllow
	switch {
	case errors.As(err, &denial):
		got, rules = expectDeny, []string{denial.Rule}
	case errors.As(err, &exceeded):
		got, rules = expectDeny, []string{exceeded.Rule}
	case err != nil:
		return err.Error()
	case len(decision.Hazards) < len(asked.Hazards):
		got, err = expectDeny, errors.New("a hazard of the transaction is not allowed by a rule")
	case missingAny(&decision, asked):
		got = expectApprovals
	}
	switch {
	case got != t.expect && err != nil:
		return fmt.Sprintf("%s, not %s: %v", got, t.expect, err)
	case got != t.expect:
		return fmt.Sprintf("%s by %s, not %s", got, strings.Join(rules, ", "), t.expect)
	case t.rule != "" && !slices.Contains(rules, t.rule):
		return fmt.Sprintf("%s by %s, not by %s", got, strings.Join(rules, ", "), t.rule)
	}
	return ""
}

// request makes what the file is asked in a test.
func (c *compiler) request(test *fileTest) (*countersign.Authorization, error) {
	asked := &countersign.Authorization{User: test.user, Now: test.now, Spent: spentSoFar(test.spent), Effects: test.effects, Readings: test.readings,
		Intent: activity.SignTransactionIntent{}, Hazards: test.hazards}
	if test.key != "" {
		asked.Keys = []countersign.SigningKey{c.testKey(test.key)}
	}
	if test.chain != "" {
		asked.Summary = &chains.Summary{Chain: test.chain}
	}
	for _, name := range test.votes {
		asked.Votes = append(asked.Votes, countersign.Vote{User: c.voter(name), At: test.now})
	}
	if test.hasEffects {
		return asked, nil
	}
	return asked, c.inspect(test, asked)
}

func (c *compiler) voter(name string) countersign.User {
	if c.options.Names != nil {
		for _, user := range c.options.Names.Users {
			if user.ID == name || user.Name == name {
				return user
			}
		}
	}
	id, tags, _ := strings.Cut(name, "/")
	return countersign.User{ID: id, Name: id, Tags: strings.Fields(strings.ReplaceAll(tags, ",", " "))}
}

func (c *compiler) testKey(name string) countersign.SigningKey {
	if c.options.Names != nil {
		for _, key := range c.options.Names.Keys {
			if key.ID == name || key.Name == name {
				return key
			}
		}
	}
	return countersign.SigningKey{ID: name, Name: name}
}

// inspect reads the transaction of a test.
func (c *compiler) inspect(test *fileTest, asked *countersign.Authorization) error {
	intent := activity.SignTransactionIntent{Type: activity.TransactionType(test.kind), UnsignedTransaction: test.transaction}
	if test.file != "" {
		content, err := os.ReadFile(filepath.Join(c.options.Folder, test.file))
		if err != nil {
			return err
		}
		var form struct {
			Type        string `json:"type"`
			Transaction string `json:"unsignedTransaction"`
		}
		if err := json.Unmarshal(content, &form); err != nil {
			return fmt.Errorf("%s: %w", test.file, err)
		}
		intent = activity.SignTransactionIntent{Type: activity.TransactionType(form.Type), UnsignedTransaction: form.Transaction}
	}
	seen, err := countersign.Inspect(intent.Type, intent.UnsignedTransaction, c.options.Limits)
	if err != nil {
		return err
	}
	asked.Intent, asked.Summary, asked.Effects, asked.Hazards = intent, &seen.Summary, seen.Effects, seen.Hazards
	return nil
}

// spentSoFar is what a test says was spent, whatever the subject.
type spentSoFar map[string]*big.Int

// Spent implements countersign.SpentReader.
func (s spentSoFar) Spent(_ context.Context, _, limit, _ string, _ time.Duration) (*big.Int, time.Time, error) {
	if sum, ok := s[limit]; ok {
		return sum, time.Time{}, nil
	}
	return new(big.Int), time.Time{}, nil
}
