package policy_test

import (
	"cmp"
	"crypto/ecdsa"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	solanago "github.com/gagliardetto/solana-go"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
	"github.com/countersign-dev/countersign/policy"
)

// This file tests that a requester who leaves something out gets no more than one who says all:
// members of requests, of typed data and of transactions. Those of a PSBT are in chains/bitcoin.

// omissions decides about requests and about the same with something left out.
type omissions struct {
	*enginetest.Fixture
	t        *testing.T
	asked    *engines.Notes
	policies map[string]*policy.File
	callers  map[string][]access.Authorization // the users and keys that each policy names
	signed   int                               // how often a policy allows a variant
}

func newOmissions(t *testing.T) *omissions {
	o := &omissions{t: t, asked: new(engines.Notes), policies: map[string]*policy.File{}, callers: map[string][]access.Authorization{}}
	o.Fixture = enginetest.New(t, engines.WithDecider(o.asked))
	texts := testenv.SamplePolicies(t)
	texts["siblings"], texts["messages"], texts["orders"], texts["dust"] = siblingPolicy, messagePolicy, orderPolicy, dustPolicy
	texts["freeze"], texts["tempo"] = freezePolicy, tempoPolicy
	for name, text := range texts {
		o.policies[name] = load(t, text)
		for _, key := range lines(text, `key: \[([\w-]+)`) {
			for _, user := range lines(text, `user: ([\w-]+)`) {
				caller := access.Authorization{User: access.User{ID: cmp.Or(user, "user"), Name: user, Tags: lines(text, `tag: ([\w-]+)`)}}
				caller.Keys = []access.SigningKey{{ID: cmp.Or(key, "key"), Name: key}}
				o.callers[name] = append(o.callers[name], caller)
			}
		}
	}
	return o
}

// freezePolicy denies on one network what it allows on the others.
const freezePolicy = `schema: countersign.policy/2
rules:
  - {name: frozen, deny: [approve, transfer, message, call, create, settings, revoke], chains: [eip155:1, 'eip155:4217', 'eip155:42431']}
  - {name: soon, deny: [approve, transfer], when: "has(effect.until) && effect.until > timestamp('2026-12-31T00:00:00Z')"}
  - {name: any, allow: [approve, transfer, message, call, create, settings, revoke], of: messages, hazards: [eip712/no-chain-id, eip712/no-verifying-contract, eip712/empty-domain]}
  - {name: sends, allow: [approve, transfer, call, create, settings, revoke, fee], of: transactions, hazards: [ethereum/no-chain-id]}
`

// tempoPolicy bounds how long transactions of Tempo and the keys that they authorize are valid, and
// what these may do.
const tempoPolicy = `schema: countersign.policy/2
assets:
  usd: {chain: "eip155:4217", token: "0x20C0000000000000000000000000000000000000", decimals: 6}
lists:
  payees: ["0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"]
limits:
  - {name: day, asset: usd, max: "1000", window: 24h, per: key}
rules:
  - {name: soon, deny: request, on: tempo, when: "!has(tempo.tx.valid_before) || tempo.tx.valid_before > timestamp('2026-12-01T00:00:00Z')"}
  - {name: for-a-day, deny: authority, on: tempo, when: "!has(effect.until) || effect.until > timestamp('2026-12-01T00:00:00Z')"}
  - {name: keys, allow: [authority, approve, settings], on: tempo, when: effect.to in payees}
  - {name: pays, allow: transfer, on: tempo, when: "effect.asset == usd && effect.to in payees", limit: day}
  - {name: gas, allow: fee, on: tempo, when: "effect.asset == usd", limit: day}
`

// verdict is what a policy says of a request: 0 if it is signed, more the more it asks for.
type verdict struct {
	level   int
	charged *big.Int
}

// judge reads a request and has each policy decide about it for each of its callers. effects is nil
// if the request is refused as malformed.
func (o *omissions) judge(intent activity.Intent) (effects []chains.Effect, verdicts map[string]verdict) {
	o.asked.Of = nil
	_, err := o.Engine.As(access.User{ID: "u", Name: "u"}, "").Prepare(o.t.Context(), enginetest.Organization, intent)
	if err != nil {
		return nil, nil
	}
	asked := o.asked.Of[len(o.asked.Of)-1]
	verdicts = map[string]verdict{}
	for name, file := range o.policies {
		for i, caller := range o.callers[name] {
			asked.User, asked.Keys = caller.User, slices.Clone(asked.Keys)
			asked.Keys[0].ID, asked.Keys[0].Name = caller.Keys[0].ID, caller.Keys[0].Name
			decision, err := file.Decide(o.t.Context(), asked)
			if err != nil && !errors.Is(err, access.ErrDenied) {
				o.t.Fatal(err)
			}
			said := verdict{charged: new(big.Int)}
			for _, charge := range decision.Charges {
				said.charged.Add(said.charged, charge.Amount)
			}
			for _, group := range decision.Approvals {
				said.level += group.Count
			}
			if err != nil {
				said.level = 100
			}
			verdicts[fmt.Sprintf("%s, caller %d", name, i)] = said
		}
	}
	return asked.Effects, verdicts
}

// less reports whether effects are some of others, of at most their amounts, or send nothing, or only
// to an account of the organization.
func less(effects, others []chains.Effect) bool {
	left := slices.Clone(others)
	for _, effect := range effects {
		nothing := effect.Amount.Value != nil && effect.Amount.Value.Sign() == 0 || effect.Controlled == chains.ControlledYes
		if effect.Kind == chains.KindTransfer && nothing {
			continue
		}
		at := slices.IndexFunc(left, func(other chains.Effect) bool {
			return effect.Kind == other.Kind && effect.By == other.By && effect.To.String() == other.To.String() && effect.From.String() == other.From.String() &&
				(effect.Asset.Equal(other.Asset) || effect.Asset.Text() == other.Asset.Text()) && effect.Change == other.Change && !exceeds(effect.Amount, other.Amount)
		})
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return true
}

// shown returns effects for an error.
func shown(effects []chains.Effect) (texts []string) {
	for i := range effects {
		texts = append(texts, fmt.Sprint(effects[i].By, ": ", chains.Sentence(effects[i], nil)))
	}
	return texts
}

// exceeds reports whether an amount may be more than another.
func exceeds(amount, other chains.Quantity) bool {
	if amount.Value == nil || other.Value == nil {
		return amount.IsUnknown() && !other.IsUnknown()
	}
	return amount.Value.Cmp(other.Value) > 0
}

// noMore checks that nothing that was left out of a request makes it more allowed, unless it is what
// the request did.
func (o *omissions) noMore(what string, whole activity.Intent, variants map[string]activity.Intent) {
	o.t.Helper()
	effects, truth := o.judge(whole)
	if truth == nil {
		o.t.Fatalf("%s is not read: %+v", what, whole)
	}
	for _, how := range slices.Sorted(maps.Keys(variants)) {
		remaining, verdicts := o.judge(variants[how])
		smaller := less(remaining, effects)
		for by, said := range verdicts {
			if said.level == 0 {
				o.signed++
			}
			switch {
			case said.level < truth[by].level && !smaller:
				o.t.Errorf("%s without %s: policy %s asks for %d instead of %d\n%+v\ninstead of\n%+v", what, how, by, said.level, truth[by].level, shown(remaining), shown(effects))
			case said.level == 0 && said.charged.Cmp(truth[by].charged) < 0 && !smaller:
				o.t.Errorf("%s without %s: policy %s counts %v instead of %v", what, how, by, said.charged, truth[by].charged)
			}
		}
	}
}

// nodes calls visit with the path of each node below a tree of lists and maps.
func nodes(tree any, path []any, visit func(path []any)) {
	switch tree := tree.(type) {
	case []any:
		for i := range tree {
			visit(append(slices.Clone(path), i))
			nodes(tree[i], append(slices.Clone(path), i), visit)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			visit(append(slices.Clone(path), name))
			nodes(tree[name], append(slices.Clone(path), name), visit)
		}
	}
}

// cut returns a tree without the node at a path or, if empty, with nothing in it.
func cut(tree any, path []any, empty bool) any {
	switch tree := tree.(type) {
	case []any:
		at := path[0].(int)
		out := slices.Clone(tree)
		switch {
		case at >= len(out):
		case len(path) > 1:
			out[at] = cut(out[at], path[1:], empty)
		case !empty:
			out = slices.Delete(out, at, at+1)
		default:
			if _, list := out[at].([]any); list {
				out[at] = []any{}
			} else {
				out[at] = []byte{}
			}
		}
		return out
	case map[string]any:
		out, name := maps.Clone(tree), path[0].(string)
		switch _, has := out[name]; {
		case has && len(path) > 1:
			out[name] = cut(out[name], path[1:], empty)
		case has && empty:
			out[name] = nil
		default:
			delete(out, name)
		}
		return out
	}
	return tree
}

// ofRequest has a request without each of its members and each pair of them: of the body and of the
// parameters, which are those of the intent's type.
func ofRequest(t *testing.T, body string) map[string]string {
	t.Helper()
	var tree map[string]any
	testenv.JSON(t, []byte(body), &tree)
	var paths [][]any
	nodes(tree, nil, func(path []any) { paths = append(paths, path) })
	out := map[string]string{}
	for i, one := range paths {
		for _, two := range paths[i:] {
			for _, empty := range []bool{false, true} {
				text := testenv.Encode(t, cut(cut(tree, two, empty), one, empty))
				out[fmt.Sprint(one, two, empty)] = string(text)
			}
		}
	}
	return out
}

// TestOmittedOfRequests: of the body of a request to sign, and of the parameters that the intent's
// type has, everything has to be there but generateAppProofs, which no policy asks about.
func TestOmittedOfRequests(t *testing.T) {
	f := enginetest.New(t)
	samples := map[activity.Type]activity.Intent{
		activity.TypeSignTransaction: activity.SignTransactionIntent{SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned, Type: activity.TransactionTypeEthereum},
		activity.TypeSignRawPayload:  engines.Payload(engines.Permit("5", "0"), activity.EncodingEIP712, activity.HashNone),
		activity.TypeSignRawPayloads: activity.SignRawPayloadsIntent{SignWith: enginetest.Address, Payloads: []string{engines.Greeting, engines.Greeting}, Encoding: activity.EncodingText, HashFunction: activity.HashKeccak256},
		activity.TypeSignTransactions: activity.SignTransactionsIntent{Type: activity.TransactionTypeEthereum, Transactions: []activity.ListedTransaction{
			{SignWith: enginetest.Address, UnsignedTransaction: enginetest.Unsigned}}},
	}
	for _, operation := range activity.Operations() {
		if !operation.Type.Signs() {
			continue
		}
		intent := samples[operation.Type]
		if intent == nil {
			t.Fatalf("%s has no sample", operation.Type)
		}
		body, kind := engines.IntentBody(t, f, intent), reflect.TypeOf(intent)
		for i := range kind.NumField() {
			if name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ","); !strings.Contains(body, `"`+name+`":`) {
				t.Fatalf("%s: the sample has no %s", operation.Type, name)
			}
		}
		whole, err := activity.Decode([]byte(body))
		testenv.Must(t, err)
		read := 0
		for how, variant := range ofRequest(t, body) {
			request, err := activity.Decode([]byte(variant))
			if err != nil {
				enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "")
				continue
			}
			read++
			same := reflect.DeepEqual(request.Intent, whole.Intent)
			if payloads, ok := request.Intent.(activity.SignRawPayloadsIntent); !same && (!ok || len(payloads.Payloads) > 1) {
				if _, err := f.Engine.Prepare(t.Context(), enginetest.Organization, request.Intent); err == nil {
					t.Errorf("%s without %s is %+v", operation.Type, how, request.Intent)
				}
			}
		}
		if read < 1 {
			t.Errorf("%s: without generateAppProofs it is not read", operation.Type)
		}
	}
}

// pruned returns typed data without the values of members that no type declares.
func pruned(value any, kind string, types map[string]any) any {
	kind, _, _ = strings.Cut(kind, "[")
	declared, isStruct := types[kind].([]any)
	if list, ok := value.([]any); ok {
		out := make([]any, len(list))
		for i := range list {
			out[i] = pruned(list[i], kind, types)
		}
		return out
	}
	members, ok := value.(map[string]any)
	if !isStruct || !ok {
		return value
	}
	out := map[string]any{}
	for _, one := range declared {
		member := one.(map[string]any)
		name := fmt.Sprint(member["name"])
		if of, ok := members[name]; ok {
			out[name] = pruned(of, fmt.Sprint(member["type"]), types)
		}
	}
	return out
}

// ofTypedData has typed data without each of its nodes, and without each member and each pair of
// members that the types declare.
func ofTypedData(t *testing.T, intent activity.SignMessageIntent) map[string]activity.Intent {
	t.Helper()
	var tree map[string]any
	decoder := json.NewDecoder(strings.NewReader(intent.Payload))
	decoder.UseNumber()
	testenv.Must(t, decoder.Decode(&tree))
	out := map[string]activity.Intent{}
	add := func(how string, tree any) {
		text := testenv.Encode(t, tree)
		without := intent
		without.Payload = string(text)
		out[how] = without
	}
	consistent := func(tree any) any {
		of := maps.Clone(tree.(map[string]any))
		types := of["types"].(map[string]any)
		of["domain"] = pruned(of["domain"], "EIP712Domain", types)
		of["message"] = pruned(of["message"], fmt.Sprint(of["primaryType"]), types)
		return of
	}
	var declared [][]any
	nodes(tree, nil, func(path []any) {
		if len(path) == 3 && path[0] == "types" {
			declared = append(declared, path)
		}
		add(fmt.Sprint(path), cut(tree, path, false))
	})
	for i, one := range declared {
		add(fmt.Sprint("declared ", one), consistent(cut(tree, one, false)))
		for _, two := range declared[i+1:] {
			if testing.Short() && i%3 > 0 {
				continue
			}
			add(fmt.Sprint("declared ", one, two), consistent(cut(cut(tree, two, false), one, false)))
		}
	}
	return out
}

// TestOmittedOfTypedData leaves out what a type does not force, and what makes the type another.
func TestOmittedOfTypedData(t *testing.T) {
	o := newOmissions(t)
	later := func(days int) string { return fmt.Sprint(o.Clock.Now().AddDate(0, 0, days).Unix()) }
	documents := map[string]string{"a permit": engines.Permit("250000000", "0"), "a vote": engines.VoteText}
	for _, stranger := range []string{"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7", "0x66a9893cc07d91d95644aedd05d03f95e1dba8af", "0x" + venue} {
		filled := strings.NewReplacer("IN180DAYS", later(180), "INAYEAR", later(365), "TRAITS", "0x0", "NUMBER", "1000", "STRANGER", stranger, "SOON", later(1),
			"SIGNER", enginetest.Address, "TOKEN", "0x"+usdcAddress, "TRANSFER", "0x"+hex.EncodeToString(usdcCall("a9059cbb", stranger, 5)), "PAYMASTER", "0x", "RECEIVER", enginetest.Address)
		for name, text := range ordinary {
			parts := strings.Split(filled.Replace(text), "|")
			documents[name+" with "+stranger] = typedOf(t, parts[0], parts[1], parts[2], strings.Join(append(parts, "1")[3:4], ""))
		}
	}
	for name, document := range documents {
		intent := engines.Payload(document, activity.EncodingEIP712, activity.HashNone)
		intent.SignWith = "key-1"
		o.noMore(name, intent, ofTypedData(t, intent))
	}
	o.enough(10)
}

// enough fails a test that shows nothing.
func (o *omissions) enough(least int) {
	o.t.Helper()
	if o.signed < least {
		o.t.Errorf("%d signed: the test shows nothing", o.signed)
	}
}

// ofList has a transaction in RLP behind a type byte without each of its nodes, with each of them
// empty, and with each pair of top-level members so.
func ofList(t *testing.T, intent activity.SignTransactionIntent) map[string]activity.Intent {
	t.Helper()
	raw := testenv.Hex(t, intent.UnsignedTransaction)
	var tree []any
	testenv.Must(t, rlp.DecodeBytes(raw[1:], &tree))
	out := map[string]activity.Intent{}
	add := func(how string, tree any) {
		list, err := rlp.EncodeToBytes(tree)
		testenv.Must(t, err)
		without := intent
		without.UnsignedTransaction = hex.EncodeToString(append(raw[:1:1], list...))
		out[how] = without
	}
	var top [][]any
	nodes(tree, nil, func(path []any) {
		if len(path) == 1 {
			top = append(top, path)
		}
		add(fmt.Sprint(path), cut(tree, path, false))
		add(fmt.Sprint(path, " empty"), cut(tree, path, true))
	})
	for i, one := range top {
		for _, two := range top[i+1:] {
			for mask := range 4 {
				add(fmt.Sprint(one, two, mask), cut(cut(tree, two, mask&1 > 0), one, mask&2 > 0))
			}
		}
	}
	return out
}

// account is the key that transactions are signed with.
func (o *omissions) account() *ecdsa.PrivateKey {
	account, err := crypto.HexToECDSA(enginetest.Secret)
	testenv.Must(o.t, err)
	return account
}

// onTempo returns payments on Tempo for the policies: alone, in a batch, with a sponsor to come or
// one who has signed, and with a key that is authorized.
func (o *omissions) onTempo() map[string]*tempomodel.Transaction {
	usd := common.FromHex("20c0000000000000000000000000000000000000")
	soon := uint64(o.Clock.Now().Unix() + 3600)
	pay := func(change func(tx *tempomodel.Transaction)) *tempomodel.Transaction {
		call := tempomodel.Call{To: usd, Value: new(big.Int), Input: usdcCall("a9059cbb", "08d2b0a37f869ff76bacb5bab3278e26ab7067b7", 5_000_000)}
		tx := &tempomodel.Transaction{ChainID: 4217, Tip: big.NewInt(1), Cap: big.NewInt(20_000_000_000), Gas: 90_000, Calls: []tempomodel.Call{call, call},
			NonceKey: new(big.Int), ValidBefore: soon, ValidAfter: soon - 1800, FeeToken: usd, FeePayer: []byte{0x80}}
		change(tx)
		return tx
	}
	key := tempomodel.Key{ChainID: 4217, Expiry: soon, ID: common.HexToAddress("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"),
		Limits: tempomodel.Some([]tempomodel.Limit{{Token: common.BytesToAddress(usd), Amount: big.NewInt(1_000_000), Period: 86400}}),
		Scopes: tempomodel.Some([]tempomodel.Scope{{Target: common.BytesToAddress(usd)}}), Account: tempomodel.Some(common.HexToAddress(enginetest.Address))}
	return map[string]*tempomodel.Transaction{
		"a batch":             pay(func(*tempomodel.Transaction) {}),
		"a payment":           pay(func(tx *tempomodel.Transaction) { tx.Calls = tx.Calls[:1] }),
		"a sponsor to come":   pay(func(tx *tempomodel.Transaction) { tx.FeePayer, tx.FeeToken = []byte{0}, nil }),
		"a sponsor's payment": pay(func(tx *tempomodel.Transaction) { tx.FeePayer = tempomodel.SignPayer(o.account(), make([]byte, 32)) }),
		"a key":               pay(func(tx *tempomodel.Transaction) { tx.Key = []tempomodel.KeyAuthorization{key.Sign(o.account())} }),
	}
}

// ofKey has a transaction that authorizes a key without each of the key's members and each pair of
// them, with a signature for what is left.
func (o *omissions) ofKey(tx *tempomodel.Transaction) map[string]activity.Intent {
	out, kind := map[string]activity.Intent{}, reflect.TypeFor[tempomodel.Key]()
	for i := range kind.NumField() {
		for k := i; k < kind.NumField(); k++ {
			key, without := tx.Key[0].Key, *tx
			for _, at := range []int{i, k} {
				reflect.ValueOf(&key).Elem().Field(at).SetZero()
			}
			without.Key = []tempomodel.KeyAuthorization{key.Sign(o.account())}
			out[kind.Field(i).Name+" and "+kind.Field(k).Name] = activity.SignTransactionIntent{SignWith: "key-1", Type: activity.TransactionTypeTempo, UnsignedTransaction: hex.EncodeToString(without.Encode())}
		}
	}
	return out
}

// TestOmittedOfTempo leaves out members of transactions of Tempo: calls, the fee token, bounds of
// time, the fee payer, the key that is authorized, signatures of others.
func TestOmittedOfTempo(t *testing.T) {
	o, random := newOmissions(t), rand.New(rand.NewPCG(53, 14))
	drawn := map[string]string{}
	for _, name := range []string{"single", "batch", "feepayer"} {
		var vector struct{ UnsignedTransaction string }
		testenv.JSON(t, testenv.Read(t, "../chains/tempo/testdata/"+name+".json"), &vector)
		drawn[name] = vector.UnsignedTransaction
	}
	for name, tx := range o.onTempo() {
		drawn[name] = hex.EncodeToString(tx.Encode())
		whole := activity.SignTransactionIntent{SignWith: "key-1", Type: activity.TransactionTypeTempo, UnsignedTransaction: drawn[name]}
		if len(tx.Key) > 0 {
			o.noMore(name+", signed again", whole, o.ofKey(tx))
		}
	}
	for i := range testenv.Draws(t, 40) {
		drawn[fmt.Sprint("drawn ", i)] = hex.EncodeToString(tempomodel.Generate(random, i).Unsigned)
	}
	read := 0
	for name, raw := range drawn {
		intent := activity.SignTransactionIntent{SignWith: "key-1", Type: activity.TransactionTypeTempo, UnsignedTransaction: raw}
		if _, verdicts := o.judge(intent); verdicts != nil {
			read++
			o.noMore(name, intent, ofList(t, intent))
		}
	}
	if read < 5 {
		t.Errorf("%d of %d are read", read, len(drawn))
	}
	o.enough(10)
}

// ofMessage has a message of protocol buffers without each of its fields, and of those in the
// contract of a transaction of Tron.
func ofMessage(t *testing.T, raw []byte, inside bool) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for at := 0; at < len(raw); {
		number, kind, tag := protowire.ConsumeTag(raw[at:])
		size := protowire.ConsumeFieldValue(number, kind, raw[at+tag:])
		if tag < 0 || size < 0 {
			return nil
		}
		before, after := raw[:at:at], raw[at+tag+size:]
		out[fmt.Sprint(number)] = slices.Concat(before, after)
		if content, _ := protowire.ConsumeBytes(raw[at+tag:]); kind == protowire.BytesType && (inside || number == 11) {
			for name, without := range ofMessage(t, content, true) {
				out[fmt.Sprint(number, "/", name)] = slices.Concat(before, field(int(number), without), after)
			}
		}
		at += tag + size
	}
	return out
}

// ofInstructions has a transaction of Solana without each instruction and each account of one.
func ofInstructions(t *testing.T, intent activity.SignTransactionIntent) map[string]activity.Intent {
	t.Helper()
	out := map[string]activity.Intent{}
	raw := testenv.Hex(t, intent.UnsignedTransaction)
	add := func(how string, change func(tx *solanago.Transaction)) {
		tx, err := solanago.TransactionFromBytes(raw)
		testenv.Must(t, err)
		change(tx)
		without, err := tx.MarshalBinary()
		testenv.Must(t, err)
		changed := intent
		changed.UnsignedTransaction = hex.EncodeToString(without)
		out[how] = changed
	}
	tx, err := solanago.TransactionFromBytes(raw)
	testenv.Must(t, err)
	for i, instruction := range tx.Message.Instructions {
		add(fmt.Sprint(i), func(tx *solanago.Transaction) {
			tx.Message.Instructions = slices.Delete(tx.Message.Instructions, i, i+1)
		})
		for k := range instruction.Accounts {
			add(fmt.Sprint(i, "/", k), func(tx *solanago.Transaction) {
				of := &tx.Message.Instructions[i]
				of.Accounts = slices.Delete(of.Accounts, k, k+1)
			})
		}
	}
	return out
}

// TestOmittedOfTransactions leaves out members of transactions of the other chains.
func TestOmittedOfTransactions(t *testing.T) {
	o := newOmissions(t)
	draw := newOrdinaryDraw(t, o.Fixture, rand.New(rand.NewPCG(53, 15)))
	for range testenv.Draws(t, 3) {
		for name, intent := range draw.all() {
			switch variants := map[string]activity.Intent{}; intent.Type {
			case activity.TransactionTypeEthereum:
				o.noMore(name, intent, ofList(t, intent))
			case activity.TransactionTypeSolana:
				o.noMore(name, intent, ofInstructions(t, intent))
			case activity.TransactionTypeTron:
				for how, raw := range ofMessage(t, testenv.Hex(t, intent.UnsignedTransaction), false) {
					without := intent
					without.UnsignedTransaction = hex.EncodeToString(raw)
					variants[how] = without
				}
				o.noMore(name, intent, variants)
			}
		}
	}
	o.enough(10)
}
