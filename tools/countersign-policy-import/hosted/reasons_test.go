package hosted_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/tools/countersign-policy-import/hosted"
)

// TestImportReasons: an expression with anything that has no counterpart here, in any
// position, gives a reason and no rule.
func TestImportReasons(t *testing.T) {
	for _, test := range []struct{ condition, want string }{
		{"eth.tx.to == <ADDRESS>", "placeholder"},
		{"solana.tx.transfers.count == 1", "count is a function: write count()"},
		{"eth.tx.data[34..74] == 'ab'", "a slice of raw call data"},
		{"eth.tx.to ==", "it is not an expression"},
		{"foo.bar == 1", "foo.bar has no counterpart here"},
		{"eth.tx.nonce == 1 && secret.id == 'y'", "secrets are not kept here"},
		{"eth.tx.nonce == 1 || secret.id == 'y'", "secrets are not kept here"},
		{"!secret.used", "secrets are not kept here"},
		{"secret.list.count() == 1", "secrets are not kept here"},
		{"secret.id == 'y'", "secrets are not kept here"},
		{"eth.tx.nonce == secret.id", "secrets are not kept here"},
		{"secret.id in ['a']", "secrets are not kept here"},
		{"eth.tx.to in [secret.id]", "secrets are not kept here"},
		{"secret.list.contains('a')", "secrets are not kept here"},
		{"secret.list.any(x, x.a == 'b')", "secrets are not kept here"},
		{"tempo.tx.calls.any(c, secret.id == 'b')", "secrets are not kept here"},
		{"tempo.tx.calls[secret.id].to == 'x'", "secrets are not kept here"},
		{"foo.list[0].to == 'x'", "foo.list has no counterpart here"},
		{"tempo.tx.calls.any(c, c.foo == 'x')", "call.foo has no counterpart here"},
		{"solana.tx.transfers.all(x, x.owner == 'y')", "transfer.owner has no counterpart here"},
		{"eth.tx.to.any(x, x == 'b')", "any takes a variable and a condition"},
		{"tempo.tx.calls.any(c)", "any takes a variable and a condition"},
		{"tempo.tx.calls.any(1, true)", "any takes a variable and a condition"},
		{"eth.tx.to.startsWith('0x')", "the function startsWith has no counterpart here"},
		{"{'a': 1} == eth.tx.nonce", "it has a part that has no counterpart here"},
		{"eth.tx.nonce == 1.5", "it has a number that is no integer"},
		{"eth.tx.nonce == 1 && solana.tx.recent_blockhash == 'a'", "it is about ethereum and solana: a rule applies to one chain"},
		{"eth.tx.nonce == 1 && solana.tx.transfers.all(x, x.to == 'y')", "it is about ethereum and solana: a rule applies to one chain"},
		{"activity.params.type == 'TRANSACTION_TYPE_TRON' && eth.tx.nonce == 1", "it is about tron and ethereum: a rule applies to one chain"},
		{"eth.tx.nonce == 1 && activity.params.type == 'TRANSACTION_TYPE_TRON'", "it is about ethereum and tron: a rule applies to one chain"},
		{"activity.resource == 'WALLET'", "resource WALLET has no counterpart here"},
		{"activity.action == 'CREATE'", "action CREATE has no counterpart here"},
		{"activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'", "messages are judged by their effects"},
		{"activity.action == 'SIGN' || activity.action == 'CREATE'", "activities that have no counterpart here, or about several"},
		{"activity.params.type == 'TRANSACTION_TYPE_DOGECOIN'", "there is no chain dogecoin here"},
		{"eth.tx.to.contains()", "contains takes one value"},
		{"solana.tx.transfers.all(1, true)", "all takes a variable and a condition"},
		{"eth.tx.to == 'hello'", "address \"hello\": not an address"},
	} {
		for _, effect := range []string{"EFFECT_ALLOW", "EFFECT_DENY"} {
			one, text := importOne(t, effect, test.condition)
			if !strings.Contains(one.Problem, test.want) || (one.Rule != "") != (effect == "EFFECT_DENY") || strings.Contains(one.Rule, "allow:") {
				t.Errorf("%s %s: problem %q, want %q; rule %q", effect, test.condition, one.Problem, test.want, one.Rule)
			}
			if !strings.Contains(text, "# not carried over: one: ") || !strings.Contains(text, "condition: "+test.condition) {
				t.Errorf("%s: the policy is not kept as a comment:\n%s", test.condition, text)
			}
		}
	}
}

// TestImportConsensus: a consensus becomes approval groups and who, or gives a reason.
func TestImportConsensus(t *testing.T) {
	for _, test := range []struct{ effect, consensus, want, problem string }{
		{"EFFECT_ALLOW", "approvers.any(u, u.id == 'ann')", "approvals: [{count: 1, users: ['ann'], submitter: counts}]", ""},
		{"EFFECT_ALLOW", "approvers.any(u, u.tags.contains('ops'))", "approvals: [{count: 1, tag: 'ops', submitter: counts}]", ""},
		{"EFFECT_ALLOW", "approvers.count() >= 2", "approvals: [{count: 2, submitter: counts}]", ""},
		{"EFFECT_ALLOW", "approvers.count() > 2", "approvals: [{count: 3, submitter: counts}]", ""},
		{"EFFECT_ALLOW", "approvers.filter(u, u.tags.contains('ops')).count() >= 2 && approvers.any(u, u.id == 'ann')",
			"approvals: [{count: 2, tag: 'ops', submitter: counts}, {count: 1, users: ['ann'], submitter: counts}]", ""},
		{"EFFECT_ALLOW", "credentials.any(c, c.public_key == '02ab') && true", "who: {credential: '02ab'}", ""},
		{"EFFECT_ALLOW", "approvers.any(u, u.id == 'ann'", "", "consensus: it is not an expression"},
		{"EFFECT_ALLOW", "approvers.any(u, u.id == <USER_ID>)", "", "consensus: it has a placeholder"},
		{"EFFECT_ALLOW", "approvers.any(u, u.alias == 'ann')", "", "known by one id or one tag"},
		{"EFFECT_ALLOW", "approvers.any(u, u.tags.contains(u.id))", "", "known by one id or one tag"},
		{"EFFECT_ALLOW", "approvers.any(u, u.tags.contains())", "", "known by one id or one tag"},
		{"EFFECT_ALLOW", "approvers.filter(u, u.email == 'a').count() >= 2", "", "known by one id or one tag"},
		{"EFFECT_ALLOW", "approvers.all(u, u.id == 'ann')", "", "only approvers.any"},
		{"EFFECT_ALLOW", "approvers.count() == 2", "", "only approvers.any"},
		{"EFFECT_ALLOW", "approvers.count() >= 'two'", "", "only approvers.any"},
		{"EFFECT_ALLOW", "credentials.count() >= 2", "", "only approvers are counted here"},
		{"EFFECT_ALLOW", "credentials.filter(c, c.id == 'a').count() >= 2", "", "only approvers are counted here"},
		{"EFFECT_ALLOW", "approvers.any(u, u.id == 'ann') && approvers.all(u, u.id == 'ann')", "", "only approvers.any"},
		{"EFFECT_ALLOW", "credentials.any(c, c.public_key == '02ab') && credentials.any(c, c.public_key == '02cd')", "", "two clauses about credentials"},
		{"EFFECT_ALLOW", "approvers.count() >= 21", "", "a whole number from 1 to 20"},
		{"EFFECT_DENY", "approvers.any(u, u.id == 'ann')", "", "a deny by who approves: use who in the rule"},
	} {
		one, text := importOne(t, test.effect, test.consensus)
		if (one.Problem != "") != (test.problem != "") || !strings.Contains(one.Problem, test.problem) || !strings.Contains(one.Rule, test.want) {
			t.Errorf("%s: problem %q, want %q; rule\n%s", test.consensus, one.Problem, test.problem, one.Rule)
		}
		if one.Problem == "" {
			load(t, text)
		}
	}
}

// TestImportRefuses: input that is not a list of policies is an error; a policy whose effect
// or time has no counterpart gives a reason.
func TestImportRefuses(t *testing.T) {
	for content, want := range map[string]string{
		"not JSON": "expected policies of the hosted service in JSON",
		"{}":       "expected a list of policies, or an object with policies",
		"5":        "expected policies of the hosted service in JSON",
	} {
		if _, _, err := hosted.Import([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
	for content, want := range map[string]string{
		`{"policies":[{"policyName":"a","effect":"EFFECT_MAYBE"}]}`:          `effect "EFFECT_MAYBE" is neither`,
		`[{"policyName":"a","effect":"EFFECT_ALLOW","time":"time.now > 1"}]`: "its time: write time.within",
	} {
		_, imported, err := hosted.Import([]byte(content))
		if err != nil || len(imported) != 1 || !strings.Contains(imported[0].Problem, want) {
			t.Errorf("%s: %+v, %v, want %s", content, imported, err, want)
		}
	}
}

// TestImportInjection: no text in a policy, with any kind of line break, can add a rule or a
// member of one.
func TestImportInjection(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029", "\x00", "\v", "\f"} {
		evil := "x" + end + "  - name: evil" + end + "    allow: request" + end
		for _, one := range []source{
			{Name: evil, Effect: "EFFECT_ALLOW", Condition: "eth.tx.nonce == 1"},
			{Name: "a", Effect: evil},
			{Name: "a", Effect: "EFFECT_ALLOW", Condition: evil},
			{Name: "a", Effect: "EFFECT_ALLOW", Condition: "wallet.id == '" + strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(evil) + "'"},
			{Name: "a", Effect: "EFFECT_ALLOW", Condition: "activity.resource == '" + evil + "'"},
			{Name: "a", Effect: "EFFECT_DENY", Condition: "activity.params.type == 'TRANSACTION_TYPE_SOLANA" + strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(evil[1:]) + "'"},
			{Name: "a", Effect: "EFFECT_ALLOW", Consensus: "approvers.any(u, u.id == '" + strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(evil) + "')"},
			{Name: "a", Effect: "EFFECT_ALLOW", Consensus: evil},
			{Name: "a", Effect: "EFFECT_ALLOW", Time: evil},
		} {
			text, _ := importAll(t, one)
			file, err := policy.Parse("imported", []byte(text+"  - {name: last, allow: fee, when: \"effect.amount <= wei('1')\"}\n"), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames()})
			if err != nil {
				t.Errorf("%q: %v\n%s", end, err, text)
				continue
			}
			rules := strings.Join(file.Rules(), " ")
			if strings.Contains(rules, "evil") && !strings.HasPrefix(rules, "x-name-evil-allow-request") || len(file.Rules()) > 2 {
				t.Errorf("%q became the rules %s:\n%s", end, rules, text)
			}
		}
	}
}
