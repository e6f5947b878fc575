package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// The hosted service's language is nearly CEL: any for exists, count() for
// size(), contains() for in, and slices. What its fields are called here, and of
// what kind they are, is this table; a field without an entry is not carried over.
var hostedFields = map[string]piece{
	"eth.tx.to": {"eth.tx.to", "address"}, "eth.tx.value": {"eth.tx.value", "wei"}, "eth.tx.chain_id": {"eth.tx.chain_id", "int"},
	"eth.tx.nonce": {"eth.tx.nonce", "int"}, "eth.tx.gas": {"eth.tx.gas", "int"}, "eth.tx.gas_price": {"eth.tx.gas_price", "wei"},
	"eth.tx.max_fee_per_gas": {"eth.tx.max_fee_per_gas", "wei"}, "eth.tx.max_priority_fee_per_gas": {"eth.tx.max_priority_fee_per_gas", "wei"},
	"eth.tx.function_name": {"eth.tx.function_name", "text"}, "eth.tx.function_signature": {"eth.tx.function_signature", "text"},
	"solana.tx.transfers": {"solana.tx.transfers", "list transfer"}, "solana.tx.spl_transfers": {"solana.tx.spl_transfers", "list spl"},
	"solana.tx.instructions": {"solana.tx.instructions", "list instruction"}, "solana.tx.program_keys": {"solana.tx.program_keys", "list address"},
	"solana.tx.address_table_lookups": {"solana.tx.address_table_lookups", "list lookup"}, "solana.tx.recent_blockhash": {"solana.tx.recent_blockhash", "text"},
	"tron.tx.contract": {"tron.tx.contract", "list contract"}, "bitcoin.tx.fee": {"bitcoin.tx.fee", "sats"},
	"bitcoin.tx.inputs": {"bitcoin.tx.inputs", "list input"}, "bitcoin.tx.outputs": {"bitcoin.tx.outputs", "list output"},
	"tempo.tx.calls": {"tempo.tx.calls", "list call"}, "tempo.tx.chain_id": {"tempo.tx.chain_id", "int"}, "tempo.tx.nonce": {"tempo.tx.nonce", "int"},
	"tempo.tx.fee_token": {"tempo.tx.fee_token", "address"}, "tempo.tx.gas_limit": {"tempo.tx.gas_limit", "int"},
	"wallet.id": {"key.wallet", "text"}, "wallet.label": {"key.wallet_name", "text"}, "private_key.id": {"key.id", "text"}, "private_key.label": {"key.name", "text"},
	"transfer.from": {".from", "address"}, "transfer.to": {".to", "address"}, "transfer.amount": {".amount", "lamports"},
	"spl.from": {".from", "address"}, "spl.to": {".to", "address"}, "spl.amount": {".amount", "units"}, "spl.token_mint": {".asset.token", "address"},
	"instruction.program_key": {".program_key", "address"}, "instruction.instruction_data_hex": {".data", "hex"},
	"contract.type": {".type", "text"}, "contract.owner_address": {".owner_address", "address"}, "contract.to_address": {".to_address", "address"},
	"contract.function_signature": {".function_signature", "text"}, "contract.function_name": {".function_name", "text"},
	"contract.contract_address": {".contract_address", "address"}, "contract.amount": {".amount", "sun"}, "contract.call_value": {".call_value", "sun"},
	"input.tx_id": {".tx_id", "text"}, "input.vout": {".vout", "int"}, "input.value": {".value", "sats"},
	"output.address": {".address", "address"}, "output.value": {".value", "sats"},
	"call.to": {".to", "address"}, "call.function_signature": {".function_signature", "text"}, "call.function_name": {".function_name", "text"},
}

// hostedReasons say why fields are not carried over, by their beginning.
var hostedReasons = []struct{ prefix, reason string }{
	{"activity.params.session_profile_id", "sessions are not kept here"},
	{"activity.params.", "spark and other activities' parameters have no counterpart here"},
	{"eth.eip_712", "typed data is judged by its effects: allow: approve or message, with effect.to, effect.asset and effect.amount"},
	{"eth.eip_7702_authorization", "a delegation is an effect: allow: authority, with effect.to, and the hazard ethereum/authority-change"},
	{"eth.tx.contract_call_args", "arguments of contracts are read by descriptors: for the standards use effect.to, effect.asset and effect.amount"},
	{"secret.", "secrets are not kept here"},
	{"private_key.tags", "keys have no tags here: name the keys or the wallet in key"},
	{"spl.owner", "the owner of a token account is not in the bytes: name the accounts in effect.from"},
	{"spl.signers", "effects rest on signatures: use who and key"},
	{"instruction.accounts", "accounts by position are not carried over: use effect.to and effect.from"},
	{"instruction.parsed_instruction_data", "arguments of programs are read by descriptors: use effects for transfers"},
	{"tempo.tx.max_fee_per_gas", "the fee is an effect: allow: fee, with effect.asset and effect.amount"},
	{"tempo.tx.valid_before", "it is a time here: tempo.tx.valid_before <= timestamp('…')"},
	{"eth.tx.data", "raw call data: use effects, or eth.tx.function_signature"},
	{"call.input", "raw call data: use effect.to, effect.from and effect.amount of a rule on transfer"},
	{"contract.data", "raw call data: use effects, or the contract's function_signature"},
}

// piece is a part of an expression that was translated, and of what kind it is:
// bool, int, text, hex, address, a unit of amounts, "list …" or an element.
type piece struct{ text, kind string }

// selectorSlice is the one slice that has a name here: the first four bytes of
// the call data.
var selectorSlice = regexp.MustCompile(`\b(eth\.tx|tempo\.tx\.calls\[0\]|tron\.tx\.contract\[0\]|\w+)\.(data|input)\[0\.\.(8|10)\]`)

var (
	otherSlice  = regexp.MustCompile(`\[\d+\.\.\d+\]`)
	placeholder = regexp.MustCompile(`(^|[^'\w])(<[A-Za-z_ ]+>|\$\{[^}]*\})`)
	missingCall = regexp.MustCompile(`\.count\b\s*[^(\s]`)
)

// hostedParser parses without macros, so that they are seen as they are written.
var hostedParser = func() *cel.Env {
	made, err := cel.NewCustomEnv(cel.ParserExpressionSizeLimit(MaxExpression), cel.ParserRecursionLimit(48))
	if err != nil {
		panic("policy: " + err.Error())
	}
	return made
}()

func (t *translation) translate(hosted *HostedPolicy) error {
	if hosted.Consensus != "" {
		if err := t.consensus(hosted.Consensus); err != nil {
			return err
		}
	}
	if strings.TrimSpace(hosted.Condition) == "" {
		if !t.deny {
			t.notes = append(t.notes, "it has no condition: it allows every activity")
		}
		return nil
	}
	root, err := parseHosted(hosted.Condition)
	if err != nil {
		return err
	}
	t.scope = map[string]string{}
	if err := t.condition(root); err != nil {
		return err
	}
	if !t.effects && !t.deny {
		t.notes = append(t.notes, "the policy allowed whole transactions: so does this rule, with everything else that they do")
	}
	if t.chain != "" {
		t.notes = append(t.notes, "it looks at "+t.chain+", and says nothing of other chains")
	}
	return nil
}

// parseHosted parses an expression of the hosted service.
func parseHosted(text string) (ast.Expr, error) {
	switch {
	case placeholder.MatchString(text):
		return nil, errors.New("it has a placeholder that is not filled in")
	case missingCall.MatchString(text):
		return nil, errors.New("count is a function: write count()")
	}
	text = selectorSlice.ReplaceAllString(text, "$1.function_signature")
	if otherSlice.MatchString(text) {
		return nil, errors.New("a slice of raw call data: use effect.to, effect.from and effect.amount of a rule on transfer")
	}
	parsed, issues := hostedParser.Parse(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("it is not an expression: %s", firstLine(issues.Errors()[0].Message))
	}
	return parsed.NativeRep().Expr(), nil
}

// condition translates the clauses that && joins, each by itself.
func (t *translation) condition(e ast.Expr) error {
	if isCall(e, "_&&_") {
		for _, arg := range e.AsCall().Args() {
			if err := t.condition(arg); err != nil {
				return err
			}
		}
		return nil
	}
	if taken, err := t.activity(e); taken || err != nil {
		return err
	}
	if taken, err := t.overTransfers(e); taken || err != nil {
		return err
	}
	made, err := t.piece(e)
	if err != nil {
		return err
	}
	if isCall(e, "_||_") {
		made.text = "(" + made.text + ")"
	}
	if made.text == "true" && !t.deny {
		t.notes = append(t.notes, "it is always true: it allows every activity")
		return nil
	}
	t.when = append(t.when, made.text)
	return nil
}

func isCall(e ast.Expr, name string) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == name
}

// activity takes clauses about the kind of activity, which the rule's scope and
// on say here.
func (t *translation) activity(e ast.Expr) (taken bool, err error) {
	path, text := comparedText(e)
	if !strings.HasPrefix(path, "activity.") {
		if strings.HasPrefix(mentionedPath(e), "activity.") {
			return false, errors.New("it is about activities that have no counterpart here, or about several: rules on request judge all activities; otp is a kind of effect")
		}
		return false, nil
	}
	switch {
	case path == "activity.action" && text == "SIGN",
		path == "activity.kind" && text == "SIGN_TRANSACTION",
		path == "activity.type" && strings.HasPrefix(text, "ACTIVITY_TYPE_SIGN_TRANSACTION"):
		t.notes = append(t.notes, "transactions and messages are judged by the same rules")
		return true, nil
	case path == "activity.params.type" && strings.HasPrefix(text, "TRANSACTION_TYPE_"):
		return true, t.onChain(strings.ToLower(strings.TrimPrefix(text, "TRANSACTION_TYPE_")))
	}
	if path == "activity.type" && strings.HasPrefix(text, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD") {
		return false, errors.New("messages are judged by their effects: allow: message, approve or authority")
	}
	return false, fmt.Errorf("%s %s has no counterpart here", strings.TrimPrefix(path, "activity."), shorten(text))
}

func (t *translation) onChain(chain string) error {
	if t.chain != "" && t.chain != chain {
		return fmt.Errorf("it looks at %s and %s: a rule is about one chain", t.chain, chain)
	}
	t.chain = chain
	return nil
}

// comparedText returns the path and the text of path == 'text'.
func comparedText(e ast.Expr) (path, text string) {
	if !isCall(e, "_==_") {
		return "", ""
	}
	text, ok := textOf(e.AsCall().Args()[1])
	if !ok {
		return "", ""
	}
	return pathOf(e.AsCall().Args()[0]), text
}

// mentionedPath returns a path about activities that an expression has anywhere.
func mentionedPath(e ast.Expr) (found string) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(part ast.Expr) {
		if path := pathOf(part); strings.HasPrefix(path, "activity.") {
			found = path
		}
	}))
	return found
}

// pathOf returns a.b.c of selections, empty for anything else.
func pathOf(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		if base := pathOf(e.AsSelect().Operand()); base != "" {
			return base + "." + e.AsSelect().FieldName()
		}
	}
	return ""
}

// overTransfers turns an allow that says what all transfers are like into a rule
// on transfers. As a rule on the whole transaction it would hold for one without
// any: for a drain by another program.
func (t *translation) overTransfers(e ast.Expr) (taken bool, err error) {
	if t.deny || !isCall(e, "all") || !e.AsCall().IsMemberFunction() {
		return false, nil
	}
	over := map[string]struct{ element, guard, chain string }{
		"solana.tx.transfers":     {"transfer", "effect.asset.native", "solana"},
		"solana.tx.spl_transfers": {"spl", "!effect.asset.native", "solana"},
		"bitcoin.tx.outputs":      {"output effect", "", "bitcoin"},
	}
	list, ok := over[pathOf(e.AsCall().Target())]
	if !ok || len(e.AsCall().Args()) != 2 {
		return false, nil
	}
	if err := t.onChain(list.chain); err != nil {
		return false, err
	}
	variable := e.AsCall().Args()[0].AsIdent()
	t.scope[variable] = list.element
	defer delete(t.scope, variable)
	body, err := t.piece(e.AsCall().Args()[1])
	if err != nil {
		return false, err
	}
	if list.guard != "" {
		t.when = append(t.when, list.guard)
	}
	if isCall(e.AsCall().Args()[1], "_||_") {
		body.text = "(" + body.text + ")"
	}
	t.when = append(t.when, body.text)
	t.effects = true
	t.notes = append(t.notes, "it said what all transfers are like, which holds of a transaction without any: this rule covers transfers, and nothing else")
	return true, nil
}

// piece translates a part of an expression.
func (t *translation) piece(e ast.Expr) (piece, error) {
	switch e.Kind() {
	case ast.LiteralKind:
		return literalPiece(e)
	case ast.IdentKind, ast.SelectKind:
		return t.field(e)
	case ast.CallKind:
		return t.call(e.AsCall())
	case ast.ListKind:
		return t.list(e.AsList(), piece{})
	}
	return piece{}, errors.New("it has a part that has no counterpart here")
}

func literalPiece(e ast.Expr) (piece, error) {
	switch value := e.AsLiteral().(type) {
	case types.String:
		return piece{quote(string(value)), "text"}, nil
	case types.Int:
		return piece{strconv.FormatInt(int64(value), 10), "int"}, nil
	case types.Bool:
		return piece{strconv.FormatBool(bool(value)), "bool"}, nil
	}
	return piece{}, errors.New("it has a number that is no integer")
}

func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}

// field translates a field by the table.
func (t *translation) field(e ast.Expr) (piece, error) {
	path := pathOf(e)
	if path == "" && e.Kind() == ast.SelectKind {
		return t.fieldOf(e.AsSelect())
	}
	root, rest, _ := strings.Cut(path, ".")
	if element, bound := t.scope[root]; bound {
		return t.elementField(root, element, rest)
	}
	if chain, ok := detailRoots[root]; ok {
		if err := t.onChain(chain); err != nil {
			return piece{}, err
		}
	}
	return lookUp(path, "")
}

// fieldOf translates a field of something that is no plain path, such as list[0].
func (t *translation) fieldOf(of ast.SelectExpr) (piece, error) {
	base, err := t.piece(of.Operand())
	if err != nil {
		return piece{}, err
	}
	return lookUp(base.kind+"."+of.FieldName(), base.text)
}

// elementField translates a field of a macro's variable.
func (t *translation) elementField(variable, element, rest string) (piece, error) {
	switch {
	case rest == "":
		return piece{variable, element}, nil
	case element == "output effect" && rest == "address":
		return piece{"effect.to", "address"}, nil
	case element == "output effect" && rest == "value":
		return piece{"effect.amount", "sats"}, nil
	case t.chain == "solana" && (element == "transfer" || element == "spl") && t.scope["!"+variable] == "":
		return lookUp(element+"."+rest, "effect")
	}
	return lookUp(element+"."+rest, variable)
}

func lookUp(path, base string) (piece, error) {
	if found, ok := hostedFields[path]; ok {
		found.text = base + found.text
		return found, nil
	}
	for _, known := range hostedReasons {
		if strings.HasPrefix(path, known.prefix) {
			return piece{}, errors.New(known.reason)
		}
	}
	return piece{}, fmt.Errorf("%s has no counterpart here", shorten(path))
}

// call translates operators and functions.
func (t *translation) call(call ast.CallExpr) (piece, error) {
	name := call.FunctionName()
	switch name {
	case "_&&_", "_||_":
		return t.logic(name[1:3], call.Args())
	case "!_":
		made, err := t.piece(call.Args()[0])
		return piece{"!(" + made.text + ")", "bool"}, err
	case "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_":
		return t.comparison(strings.Trim(name, "_"), call.Args())
	case "@in":
		return t.membership(call.Args()[0], call.Args()[1])
	case "_[_]":
		return t.index(call.Args())
	case "count":
		made, err := t.piece(call.Target())
		return piece{made.text + ".size()", "int"}, err
	case "contains":
		return t.membership(call.Args()[0], call.Target())
	case "all", "any", "filter":
		return t.macro(name, call)
	}
	return piece{}, fmt.Errorf("the function %s has no counterpart here", shorten(name))
}

func (t *translation) logic(operator string, args []ast.Expr) (piece, error) {
	var parts []string
	for _, arg := range args {
		made, err := t.piece(arg)
		if err != nil {
			return piece{}, err
		}
		if isCall(arg, "_||_") && operator == "&&" {
			made.text = "(" + made.text + ")"
		}
		parts = append(parts, made.text)
	}
	return piece{strings.Join(parts, " "+operator+" "), "bool"}, nil
}

// comparison translates both sides; literals become of the kind of the field
// that they are compared with.
func (t *translation) comparison(operator string, args []ast.Expr) (piece, error) {
	if path, text := pathOf(args[0]), args[1]; path == "wallet_account.address" && operator == "==" {
		if address, ok := textOf(text); ok {
			return piece{"address(" + quote(address) + ") in key.addresses", "bool"}, nil
		}
	}
	left, err := t.piece(args[0])
	if err != nil {
		return piece{}, err
	}
	if text, ok := textOf(args[1]); ok && left.kind == "address" {
		switch {
		case text == "" && operator == "==":
			return piece{"!has(" + left.text + ")", "bool"}, nil
		case text == "ADDRESS_TABLE_LOOKUP" && operator == "==":
			return piece{"!has(" + left.text + ")", "bool"}, nil
		}
	}
	right, err := t.piece(args[1])
	if err != nil {
		return piece{}, err
	}
	left.text, right.text = asKind(left, args[0], right.kind), asKind(right, args[1], left.kind)
	return piece{left.text + " " + operator + " " + right.text, "bool"}, nil
}

// asKind writes a literal as the kind of what it is compared with.
func asKind(of piece, e ast.Expr, kind string) string {
	if e.Kind() != ast.LiteralKind {
		return of.text
	}
	text, isText := textOf(e)
	_, unit := unitNames[kind]
	switch {
	case kind == "address" && isText:
		return "address(" + of.text + ")"
	case kind == "hex" && isText:
		return quote("0x" + strings.TrimPrefix(text, "0x"))
	case kind == "text" && isText && len(text) == 8 && isHexText(text):
		return quote("0x" + text) // a selector
	case unit && of.kind == "int":
		return kind + "('" + of.text + "')"
	case kind == "int" && isText && isDigits(text):
		return text // the hosted service's documentation has chain ids in quotes
	}
	return of.text
}

func isHexText(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// membership translates x in list and list.contains(x).
func (t *translation) membership(of, list ast.Expr) (piece, error) {
	left, err := t.piece(of)
	if err != nil {
		return piece{}, err
	}
	var right piece
	if list.Kind() == ast.ListKind {
		right, err = t.list(list.AsList(), left)
	} else {
		right, err = t.piece(list)
		left.text = asKind(left, of, strings.TrimPrefix(right.kind, "list "))
	}
	return piece{left.text + " in " + right.text, "bool"}, err
}

func (t *translation) list(list ast.ListExpr, like piece) (piece, error) {
	var parts []string
	for _, element := range list.Elements() {
		made, err := t.piece(element)
		if err != nil {
			return piece{}, err
		}
		parts = append(parts, asKind(made, element, like.kind))
	}
	return piece{"[" + strings.Join(parts, ", ") + "]", "list " + like.kind}, nil
}

// index translates list[0]. In an allow the list must have that one element
// alone, for the others would go unseen.
func (t *translation) index(args []ast.Expr) (piece, error) {
	if path := pathOf(args[0]); strings.HasSuffix(path, "contract_call_args") || strings.HasPrefix(path, "secret.") || strings.HasPrefix(path, "eth.eip_712") {
		return lookUp(path, "")
	}
	list, err := t.piece(args[0])
	if err != nil {
		return piece{}, err
	}
	at, err := t.piece(args[1])
	if err != nil {
		return piece{}, err
	}
	if alone := list.text + ".size() == 1"; !t.deny && at.text == "0" && list.kind != "list contract" && !contains(t.when, alone) {
		t.when = append(t.when, alone)
		t.notes = append(t.notes, "it looked at the first of several: here there may be one only")
	}
	return piece{list.text + "[" + at.text + "]", strings.TrimPrefix(list.kind, "list ")}, nil
}

func contains(list []string, one string) bool {
	for _, other := range list {
		if other == one {
			return true
		}
	}
	return false
}

// macro translates list.all(x, …), list.any(x, …) and list.filter(x, …).
func (t *translation) macro(name string, call ast.CallExpr) (piece, error) {
	list, err := t.piece(call.Target())
	if err != nil {
		return piece{}, err
	}
	if len(call.Args()) != 2 || call.Args()[0].Kind() != ast.IdentKind || !strings.HasPrefix(list.kind, "list ") {
		return piece{}, fmt.Errorf("%s takes a variable and a condition", name)
	}
	variable := call.Args()[0].AsIdent()
	t.scope[variable], t.scope["!"+variable] = strings.TrimPrefix(list.kind, "list "), "own"
	defer func() { delete(t.scope, variable); delete(t.scope, "!"+variable) }()
	body, err := t.piece(call.Args()[1])
	if err != nil {
		return piece{}, err
	}
	kind := "bool"
	if name == "filter" {
		kind = list.kind
	}
	if name == "any" {
		name = "exists"
	}
	return piece{list.text + "." + name + "(" + variable + ", " + body.text + ")", kind}, nil
}
