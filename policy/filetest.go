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
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/store"
)

// fileTest is a test of the file: a request and the expected decision.
type fileTest struct {
	node        source.Node
	asked       access.Authorization
	transaction string
	kind        string
	file        string
	hasEffects  bool
	expect      string
	rule        string
	prices      *priceList
}

type fileTests struct {
	*draft
	folder string // with the transactions that they name
	list   []*fileTest
	inputs []input
}

// maxTestFile bounds a file with the transaction of a test, in bytes.
const maxTestFile = 4 << 20

// input is a file with a transaction of a test, or with prices.
type input struct {
	path   string
	digest [32]byte
}

// input reads a file on which the policy depends.
func (f *fileTests) input(path string, limit int) ([]byte, error) {
	content, err := trust.ReadFile(path, limit)
	if err == nil {
		f.inputs = append(f.inputs, input{path, sha256.Sum256(content)})
	}
	return content, err
}

// Decisions: what a test can expect, and what an explanation reports.
const (
	expectAllow     = "allow"
	expectDeny      = "deny"
	expectApprovals = "approvals"
)

func (f *fileTests) read(n source.Node) {
	spent, network, voters := spentSoFar{}, "", []string(nil)
	t := &fileTest{node: n, asked: access.Authorization{Spent: spent, Intent: activity.SignTransactionIntent{}}}
	asked := &t.asked
	n.Fields("a test", map[string]func(source.Node){
		"transaction": func(n source.Node) { t.transaction = n.Text("transaction") },
		"type":        func(n source.Node) { t.kind = n.Text("type") },
		"file":        func(n source.Node) { t.file = n.Text("file") },
		"effects": func(n source.Node) {
			t.hasEffects = true
			asked.Effects, asked.Readings = f.readEffects(n)
		},
		"on":    func(n source.Node) { asked.Chain = f.words.readChain(n) },
		"chain": func(n source.Node) { network = f.words.readNetwork(n) },
		"of": func(n source.Node) {
			asked.Intent = activity.SignRawPayloadIntent{}
			isOnly(n, "of", ofMessages, ": effects are those of a transaction otherwise")
		},
		"hazards": func(n source.Node) {
			for _, name := range readHazards(n, f.hazards) {
				asked.Hazards = append(asked.Hazards, chains.Hazard{Name: name})
			}
		},
		"as":   func(n source.Node) { asked.User = f.names.testUser(n, asked.User.Tags) },
		"tags": func(n source.Node) { asked.User.Tags = n.Strings("tags") },
		"key":  func(n source.Node) { asked.Keys = []access.SigningKey{f.names.testKey(n.Text("key"))} },
		"wallet": func(n source.Node) {
			name := n.Text("wallet")
			asked.Wallet = &access.SigningWallet{ID: name, Name: name}
		},
		"at":     func(n source.Node) { asked.Now = n.Instant("at") },
		"spent":  func(n source.Node) { f.readSpent(spent, n) },
		"prices": func(n source.Node) { t.prices = f.readTestPrices(n) },
		"votes":  func(n source.Node) { voters = n.Strings("votes") },
		"expect": func(n source.Node) { t.expect, _ = n.OneOf("expect", expectAllow, expectDeny, expectApprovals) },
		"rule":   func(n source.Node) { t.rule = n.Text("rule") },
	})
	for _, name := range voters {
		asked.Votes = append(asked.Votes, access.Vote{User: f.names.voter(name), At: asked.Now})
	}
	if _, id, numbered := strings.Cut(network, ":"); numbered && asked.Chain != "" {
		field := chains.Field{Label: "chain", Key: "chain_id", Type: chains.TypeInteger, Value: id}
		summary := &chains.Summary{Chain: asked.Chain, Fields: []chains.Field{field}}
		asked.Summary = func() *chains.Summary { return summary }
	}
	f.check(t, network)
	f.list = append(f.list, t)
}

// check refuses a test that says too little, or nothing that can be.
func (f *fileTests) check(t *fileTest, network string) {
	n, usesTime := t.node, func(r *rule) bool { return r.when != nil && r.when.names["time"] }
	sources, rules := 0, namesOf(f.rules)
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
	case network != "" && t.asked.Chain == "":
		n.Fail("chain needs on: the chain that %s is a network of", network)
	case t.transaction != "" && t.kind == "":
		n.Fail("a transaction needs its type, such as TRANSACTION_TYPE_ETHEREUM")
	case t.rule != "" && !slices.Contains(rules, t.rule):
		n.Fail("%s", source.Meant("there is no rule "+shorten(t.rule), t.rule, rules))
	case t.asked.Now.IsZero() && slices.ContainsFunc(f.rules, usesTime):
		n.Fail("a rule depends on the time: set it, such as at: 2026-11-23T09:00:00Z")
	}
}

func (f *fileTests) readSpent(spent spentSoFar, n source.Node) {
	for _, member := range n.Pairs("spent") {
		limit, err := f.limit(member.Name)
		if err != nil {
			member.FailName("%v", err)
			continue
		}
		if limit.asset == nil {
			continue // refused where it is defined
		}
		value, err := parseUnits(member.Text("spent"), max(limit.asset.decimals, 0))
		if err != nil {
			member.Fail("spent: %v", err)
			continue
		}
		spent[member.Name] = value
	}
}

// run runs the file's own tests. A test that fails is a problem of the file.
func (f *fileTests) run(j *judge) {
	for _, test := range f.list {
		if err := f.inspect(test); err != nil {
			test.node.Fail("the test cannot be run: %v", err)
			continue
		}
		priced := *j
		priced.prices = test.prices
		decision, err := priced.cover(context.Background(), &test.asked).decide()
		if problem := test.judge(decision, err); problem != "" {
			test.node.Fail("the test fails: %s", problem)
		}
	}
}

// judge compares a decision with the expected one. It returns the difference, or "".
func (t *fileTest) judge(decision access.Decision, err error) string {
	var denial *Denial
	rules := decision.Rules
	got := expectAllow
	switch {
	case errors.As(err, &denial):
		got, rules = expectDeny, []string{denial.Rule}
	case err != nil:
		return err.Error()
	case missingAny(&decision, &t.asked):
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

// inspect parses the transaction of a test, unless it gives the effects.
func (f *fileTests) inspect(test *fileTest) error {
	if test.hasEffects {
		return nil
	}
	kind, unsigned := test.kind, test.transaction
	if test.file != "" {
		path := filepath.Join(f.folder, test.file)
		content, err := f.input(path, maxTestFile)
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
		kind, unsigned = form.Type, form.Transaction
	}
	intent := activity.SignTransactionIntent{Type: activity.TransactionType(kind), UnsignedTransaction: unsigned}
	tx, err := f.words.table.Read(intent.Type, intent.UnsignedTransaction)
	if err != nil {
		return err
	}
	summary, asked := tx.Summary(), &test.asked
	asked.Effects, _ = chains.Follow(tx.Effects())
	asked.Intent, asked.Hazards = intent, tx.Hazards()
	asked.Chain, asked.Summary = tx.Chain(), func() *chains.Summary { return &summary }
	return nil
}

// spentSoFar is what a test says was spent, by limit and for every subject.
type spentSoFar map[string]*big.Int

func (s spentSoFar) Spent(_ context.Context, _ string, charge store.Charge) (*big.Int, time.Time, error) {
	if sum, ok := s[charge.Limit]; ok {
		return sum, time.Time{}, nil
	}
	return new(big.Int), time.Time{}, nil
}

// readTestPrices reads the prices of a test, by the names of the file's assets. It has no others,
// so that no test depends on the price file.
func (f *fileTests) readTestPrices(n source.Node) *priceList {
	p := &priceList{undated: true, quotes: map[string]*quote{}}
	for _, member := range n.Pairs("prices") {
		price, err := parsePrice(member.Text("price"))
		named := f.assets[member.Name]
		switch {
		case named == nil:
			missing := "there is no asset " + shorten(member.Name)
			member.FailName("%s", source.Meant(missing, member.Name, sortedKeys(f.assets)))
		case err != nil:
			member.Fail("prices: %v", err)
		case named.decimals < 0:
			member.FailName("the file does not say how many decimals %s has", member.Name)
		default:
			named.used = true
			p.quotes[identity(named.Asset)] = &quote{named.Asset, named.decimals, price}
		}
	}
	return p
}
