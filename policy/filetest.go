package policy

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/store"
)

// fileTest is a test of the file: a request and the expected decision.
type fileTest struct {
	node        source.Node
	transaction string
	kind        string
	file        string
	effects     []chains.Effect
	hasEffects  bool
	readings    chains.Readings
	hazards     []chains.Hazard
	chain       string
	network     string
	messages    bool
	user        access.User
	key         string
	wallet      string
	now         time.Time
	spent       spentSoFar
	votes       []string
	expect      string
	rule        string
}

// Decisions: what a test can expect, and what an explanation reports.
const (
	expectAllow     = "allow"
	expectDeny      = "deny"
	expectApprovals = "approvals"
)

func (c *compiler) readTest(n source.Node) {
	t := &fileTest{node: n, spent: spentSoFar{}}
	n.Fields("a test", map[string]func(source.Node){
		"transaction": func(n source.Node) { t.transaction = n.Text("transaction") },
		"type":        func(n source.Node) { t.kind = n.Text("type") },
		"file":        func(n source.Node) { t.file = n.Text("file") },
		"effects":     func(n source.Node) { t.hasEffects = true; c.readTestEffects(t, n) },
		"on":          func(n source.Node) { t.chain = readChain(n) },
		"chain":       func(n source.Node) { t.network = readChainID(n) },
		"of": func(n source.Node) {
			if t.messages = n.Text("of") == ofMessages; !t.messages {
				n.Fail("of: only messages is supported: effects are those of a transaction otherwise")
			}
		},
		"hazards": func(n source.Node) { t.readHazards(n) },
		"as":      func(n source.Node) { t.user = c.testUser(n, t.user.Tags) },
		"tags":    func(n source.Node) { t.user.Tags = n.Strings("tags") },
		"key":     func(n source.Node) { t.key = n.Text("key") },
		"wallet":  func(n source.Node) { t.wallet = n.Text("wallet") },
		"at":      func(n source.Node) { t.now = n.Instant("at") },
		"spent":   func(n source.Node) { c.readSpent(t, n) },
		"votes":   func(n source.Node) { t.votes = n.Strings("votes") },
		"expect":  func(n source.Node) { t.expect = n.Text("expect") },
		"rule":    func(n source.Node) { t.rule = n.Text("rule") },
	})
	sources := 0
	for _, given := range []bool{t.transaction != "", t.file != "", t.hasEffects} {
		if given {
			sources++
		}
	}
	switch {
	case !slices.Contains([]string{expectAllow, expectDeny, expectApprovals}, t.expect):
		n.Fail("a test expects allow, deny or approvals")
	case sources != 1:
		n.Fail("a test has one of transaction, file and effects")
	case t.network != "" && t.chain == "":
		n.Fail("chain needs on: the chain that %s is a network of", t.network)
	case t.transaction != "" && t.kind == "":
		n.Fail("a transaction needs its type, such as TRANSACTION_TYPE_ETHEREUM")
	case t.rule != "" && !slices.Contains(c.file.Rules(), t.rule):
		n.Fail("%s", source.Meant("there is no rule "+shorten(t.rule), t.rule, c.file.Rules()))
	case t.now.IsZero() && c.usesTime():
		n.Fail("a rule depends on the time: set it, such as at: 2026-11-23T09:00:00Z")
	}
	c.tests = append(c.tests, t)
}

// usesTime reports whether any rule depends on the time.
func (c *compiler) usesTime() bool {
	return slices.ContainsFunc(c.file.rules, func(r *rule) bool { return r.when != nil && r.when.names["time"] })
}

func (t *fileTest) readHazards(n source.Node) {
	for _, name := range readHazards(n, all.HazardNames()) {
		t.hazards = append(t.hazards, chains.Hazard{Name: name})
	}
}

// testUser returns a user by name. If the users are not known, it is one with the tags of
// the test.
func (c *compiler) testUser(n source.Node, tags []string) access.User {
	name := n.Text("as")
	if c.options.Names == nil {
		return access.User{ID: name, Name: name, Tags: tags}
	}
	user, ok := c.options.Names.user(name)
	if !ok {
		n.Fail("there is no user %s", shorten(name))
	}
	return user
}

func (c *compiler) readSpent(t *fileTest, n source.Node) {
	for _, member := range n.Pairs("spent") {
		limit, err := c.limit(member.Name)
		if err != nil {
			member.FailName("%v", err)
			continue
		}
		value, err := parseUnits(member.Text("spent"), max(limit.asset.decimals, 0))
		if err != nil {
			member.Fail("spent: %v", err)
			continue
		}
		t.spent[member.Name] = value
	}
}

// runTests runs the file's own tests. A test that fails is a problem of the file.
func (c *compiler) runTests() {
	for _, test := range c.tests {
		request, err := c.request(test)
		if err != nil {
			test.node.Fail("the test cannot be run: %v", err)
			continue
		}
		decision, err := c.file.Decide(context.Background(), *request)
		if problem := test.judge(decision, err, request); problem != "" {
			test.node.Fail("the test fails: %s", problem)
		}
	}
}

// judge compares a decision with the expected one. It returns the difference, or "".
func (t *fileTest) judge(decision access.Decision, err error, request *access.Authorization) string {
	var denial *Denial
	rules := decision.Rules
	got := expectAllow
	switch {
	case errors.As(err, &denial):
		got, rules = expectDeny, []string{denial.Rule}
	case err != nil:
		return err.Error()
	case missingAny(&decision, request):
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

// request returns the request of a test.
func (c *compiler) request(test *fileTest) (*access.Authorization, error) {
	request := &access.Authorization{User: test.user, Now: test.now, Spent: test.spent, Effects: test.effects, Readings: test.readings,
		Intent: activity.SignTransactionIntent{}, Hazards: test.hazards}
	if test.wallet != "" {
		request.Wallet = &access.SigningWallet{ID: test.wallet, Name: test.wallet}
	}
	if test.key != "" {
		request.Keys = []access.SigningKey{c.testKey(test.key)}
	}
	if test.chain != "" {
		request.Summary = &chains.Summary{Chain: test.chain}
		if _, id, numbered := strings.Cut(test.network, ":"); numbered {
			request.Summary.Fields = []chains.Field{{Label: "chain", Key: "chain_id", Type: chains.TypeInteger, Value: id}}
		}
	}
	if test.messages {
		request.Intent = activity.SignRawPayloadIntent{}
	}
	for _, name := range test.votes {
		request.Votes = append(request.Votes, access.Vote{User: c.voter(name), At: test.now})
	}
	if test.hasEffects {
		return request, nil
	}
	return request, c.inspect(test, request)
}

// voter returns a user by name, or the user of a text such as ann/finance,ops.
func (c *compiler) voter(name string) access.User {
	if user, ok := c.options.Names.user(name); ok {
		return user
	}
	id, tags, _ := strings.Cut(name, "/")
	return access.User{ID: id, Name: id, Tags: strings.Fields(strings.ReplaceAll(tags, ",", " "))}
}

func (c *compiler) testKey(name string) access.SigningKey {
	if c.options.Names != nil {
		for _, key := range c.options.Names.Keys {
			if key.ID == name || key.Name == name {
				return key
			}
		}
	}
	return access.SigningKey{ID: name, Name: name}
}

// inspect parses the transaction of a test.
func (c *compiler) inspect(test *fileTest, request *access.Authorization) error {
	intent := activity.SignTransactionIntent{Type: activity.TransactionType(test.kind), UnsignedTransaction: test.transaction}
	if test.file != "" {
		path := filepath.Join(c.options.Folder, test.file)
		content, err := trust.ReadFile(path, maxTestFile)
		if err != nil {
			return err
		}
		c.file.inputs = append(c.file.inputs, input{path, sha256.Sum256(content)})
		var form struct {
			Type        string `json:"type"`
			Transaction string `json:"unsignedTransaction"`
		}
		if err := json.Unmarshal(content, &form); err != nil {
			return fmt.Errorf("%s: %w", test.file, err)
		}
		intent = activity.SignTransactionIntent{Type: activity.TransactionType(form.Type), UnsignedTransaction: form.Transaction}
	}
	inspected, err := all.Inspect(intent.Type, intent.UnsignedTransaction, c.options.Limits)
	if err != nil {
		return err
	}
	request.Intent, request.Summary, request.Effects, request.Hazards = intent, &inspected.Summary, inspected.Effects, inspected.Hazards
	return nil
}

// spentSoFar is what a test says was spent, by limit and for every subject.
type spentSoFar map[string]*big.Int

// Spent implements [access.SpentReader].
func (s spentSoFar) Spent(_ context.Context, _ string, charge store.Charge) (*big.Int, time.Time, error) {
	if sum, ok := s[charge.Limit]; ok {
		return sum, time.Time{}, nil
	}
	return new(big.Int), time.Time{}, nil
}
