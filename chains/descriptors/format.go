package descriptors

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/chains"
)

// formatter shows a value in a format.
type formatter func(s *session, f *field, value located, pos position) (chains.Field, error)

// ofAmount shows a value that must be an amount.
func ofAmount(show func(s *session, f *field, amount *big.Int, pos position) (chains.Field, error)) formatter {
	return func(s *session, f *field, value located, pos position) (chains.Field, error) {
		amount, err := amountOf(value)
		if err != nil {
			return chains.Field{}, err
		}
		return show(s, f, amount, pos)
	}
}

// formats are the formats of ERC-7730 version 2 and their parameters. A call with another
// parameter is not read.
var formats = map[string]struct {
	show   formatter
	params []string
}{
	"":            {(*session).showRaw, nil},
	"raw":         {(*session).showRaw, nil},
	"addressName": {(*session).showAddress, []string{"types", "sources", "senderAddress"}},
	"tokenAmount": {ofAmount((*session).showTokenAmount),
		[]string{"token", "tokenPath", "nativeCurrencyAddress", "threshold", "message"}},
	"amount":            {ofAmount((*session).showAmount), nil},
	"date":              {ofAmount((*session).showDate), []string{"encoding"}},
	"duration":          {ofAmount((*session).showDuration), nil},
	"unit":              {ofAmount((*session).showUnit), []string{"base", "decimals", "prefix"}},
	"enum":              {(*session).showEnum, []string{"$ref"}},
	"nftName":           {ofAmount((*session).showNFT), []string{"collection", "collectionPath"}},
	"calldata":          {nil, []string{"callee", "calleePath", "amount", "amountPath", "spender", "spenderPath"}},
	"tokenTicker":       {(*session).showTicker, nil},
	"chainId":           {(*session).showRaw, nil},
	"interoperableName": {(*session).showAddress, []string{"types", "sources"}},
}

func (s *session) show(f *field, value located, pos position) (chains.Field, error) {
	format, ok := formats[f.Format]
	if !ok {
		return chains.Field{}, fmt.Errorf("format %.32q is not known", f.Format)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Params)) {
		if f.Format != "" && f.Format != "raw" && !slices.Contains(format.params, name) {
			return chains.Field{}, fmt.Errorf("parameter %.32q of format %s is not known", name, f.Format)
		}
	}
	if value.Kind == chains.TypedStruct {
		return chains.Field{}, errors.New("a structure cannot be shown as one value")
	}
	if f.Format == "calldata" {
		return s.showCall(f, value, pos)
	}
	return format.show(s, f, value, pos)
}

// textOf returns a shown value as part of a sentence, and an address by its label.
func textOf(f *field, shown chains.Field) string {
	if f.Format == "addressName" && shown.Note != "" {
		return shown.Note
	}
	if shown.Type == chains.TypeBytes {
		return "0x" + shown.Value
	}
	return shown.Value
}

func (s *session) showRaw(f *field, value located, _ position) (chains.Field, error) {
	if value.Kind == chains.TypedBytes || value.Kind == chains.TypedFixedBytes {
		return chains.Bytes(f.Label, value.Bytes), nil
	}
	text, _ := plain(s.call.Chain, value.TypedValue)
	return chains.Text(f.Label, text), nil
}

func (s *session) showAddress(f *field, value located, _ position) (chains.Field, error) {
	raw, ok := addressIn(value)
	if !ok {
		return s.showRaw(f, value, position{})
	}
	party := account(s.call.Chain, raw)
	shown := chains.Text(f.Label, party.String())
	shown.Note = s.folder.names.Label(party)
	if s.names(f.Params["senderAddress"], raw) {
		shown.Note = "Sender"
	}
	return shown, nil
}

func amountOf(value located) (*big.Int, error) {
	switch value.Kind {
	case chains.TypedNumber:
		return value.Number, nil
	case chains.TypedBytes, chains.TypedFixedBytes:
		if len(value.Bytes) <= 32 {
			return new(big.Int).SetBytes(value.Bytes), nil
		}
	case chains.TypedText:
		if amount, ok := bigOf(string(value.Bytes)); ok {
			return amount, nil
		}
	}
	return nil, errors.New("the value is not a number")
}

func (s *session) showTokenAmount(f *field, amount *big.Int, pos position) (chains.Field, error) {
	token, ok, err := s.pathParam(f, "token", pos)
	if err != nil {
		return chains.Field{}, err
	}
	address, isAddress := addressIn(token)
	if !ok || !isAddress {
		return chains.Text(f.Label, amount.String()).WithNote("units of an unknown token"), nil
	}
	party := account(s.call.Chain, address)
	symbol, decimals, known := "", 0, false
	switch {
	case s.names(f.Params["nativeCurrencyAddress"], address):
		network := chains.NetworkOf(s.call.Chain)
		symbol, decimals, known = network.Symbol, network.Decimals, network.Symbol != ""
	default:
		symbol, decimals, known = s.folder.names.Token(chains.Token(s.call.Chain, party, ""))
	}
	if !known {
		return chains.Text(f.Label, amount.String()).WithNote("units of token " + party.String()), nil
	}
	text := chains.Decimal(amount.String(), decimals)
	if threshold, ok := s.threshold(f); ok && amount.Cmp(threshold) >= 0 {
		if text = s.param(f, "message"); text == "" {
			text = "Unlimited"
		}
	}
	return chains.Text(f.Label, text+" "+symbol), nil
}

func (s *session) threshold(f *field) (*big.Int, bool) {
	node := f.Params["threshold"]
	if text, ok := node.(string); ok && strings.HasPrefix(text, "$.") {
		node = lookUp(s.descriptor.root, text)
	}
	if node == nil {
		return nil, false
	}
	return bigOf(fmt.Sprint(node))
}

// names reports whether a parameter, which is an address or a list of addresses, contains
// an address.
func (s *session) names(parameter any, address []byte) bool {
	list, ok := parameter.([]any)
	if !ok {
		list = []any{parameter}
	}
	for _, entry := range list {
		if text, ok := entry.(string); ok {
			if raw, ok := addressIn(s.constant(text)); ok && bytes.Equal(raw, address) {
				return true
			}
		}
	}
	return false
}

func (s *session) showAmount(f *field, amount *big.Int, _ position) (chains.Field, error) {
	network := chains.NetworkOf(s.call.Chain)
	text := chains.Decimal(amount.String(), network.Decimals)
	return chains.Text(f.Label, strings.TrimSpace(text+" "+network.Symbol)), nil
}

func (s *session) showDate(f *field, seconds *big.Int, _ position) (chains.Field, error) {
	switch {
	case s.param(f, "encoding") == "blockheight":
		return chains.Text(f.Label, seconds.String()).WithNote("block height"), nil
	case !seconds.IsInt64() || seconds.Int64() > 253402300799: // the end of the year 9999
		return chains.Text(f.Label, seconds.String()).WithNote("seconds since 1970: after the year 9999"), nil
	}
	return chains.Text(f.Label, time.Unix(seconds.Int64(), 0).UTC().Format("2006-01-02 15:04:05Z")), nil
}

func (s *session) showDuration(f *field, seconds *big.Int, _ position) (chains.Field, error) {
	minutes, second := new(big.Int).DivMod(seconds, big.NewInt(60), new(big.Int))
	hours, minute := new(big.Int).DivMod(minutes, big.NewInt(60), new(big.Int))
	return chains.Text(f.Label, fmt.Sprintf("%02d:%02d:%02d", hours, minute, second)), nil
}

func (s *session) showUnit(f *field, amount *big.Int, _ position) (chains.Field, error) {
	decimals, _ := f.Params["decimals"].(int64)
	if decimals < 0 || decimals > 255 {
		return chains.Field{}, errors.New("decimals: must be at most 255")
	}
	return chains.Text(f.Label, chains.Decimal(amount.String(), int(decimals))+s.param(f, "base")), nil
}

func (s *session) showEnum(f *field, value located, _ position) (chains.Field, error) {
	ref, _ := f.Params["$ref"].(string)
	values, ok := lookUp(s.descriptor.root, ref).(object)
	if !ok {
		return chains.Field{}, errors.New("its enumeration is missing")
	}
	key, _ := plain(s.call.Chain, value.TypedValue)
	name, ok := values[key].(string)
	if !ok && value.Kind == chains.TypedBool {
		name, ok = values[strings.ToUpper(key[:1])+key[1:]].(string) // True and False, as in Python
	}
	if raw := value.bytes(); !ok && len(raw) <= 32 && value.Kind != chains.TypedText { // bytes and bools as a number
		name, ok = values[new(big.Int).SetBytes(raw).String()].(string)
	}
	if !ok {
		return chains.Text(f.Label, key).WithNote("not among the named values"), nil
	}
	return chains.Text(f.Label, name).WithNote(key), nil
}

func (s *session) showNFT(f *field, id *big.Int, pos position) (chains.Field, error) {
	collection, ok, err := s.pathParam(f, "collection", pos)
	raw, isAddress := addressIn(collection)
	if err != nil || !ok || !isAddress {
		return chains.Text(f.Label, id.String()).WithNote("of an unknown collection"), err
	}
	party := account(s.call.Chain, raw)
	if name := s.folder.names.Label(party); name != "" {
		return chains.Text(f.Label, name+" #"+id.String()), nil
	}
	return chains.Text(f.Label, id.String()).WithNote("of collection " + party.String()), nil
}

func (s *session) showTicker(f *field, value located, _ position) (chains.Field, error) {
	raw, ok := addressIn(value)
	if !ok {
		return chains.Field{}, errors.New("the value is not an address")
	}
	party := account(s.call.Chain, raw)
	if symbol, _, ok := s.folder.names.Token(chains.Token(s.call.Chain, party, "")); ok {
		return chains.Text(f.Label, symbol).WithNote(party.String()), nil
	}
	return chains.Text(f.Label, party.String()), nil
}

// showCall reads a call in the arguments. Its bytes count as read if its reading is complete.
func (s *session) showCall(f *field, value located, pos position) (chains.Field, error) {
	data := value.bytes()
	unread := chains.Bytes(f.Label, data)
	callee, ok, err := s.pathParam(f, "callee", pos)
	if err != nil {
		return unread, err
	}
	to, isAddress := addressIn(callee)
	if !ok || !isAddress || len(data) == 0 || s.depth >= maxNested {
		return unread, nil
	}
	inner := chains.Call{Chain: s.call.Chain, From: s.call.To, To: account(s.call.Chain, to), Data: data}
	if amount, ok, err := s.pathParam(f, "amount", pos); err == nil && ok {
		if inner.Value, err = amountOf(amount); err != nil {
			return unread, err
		}
	}
	reading, ok := s.folder.readAt(inner, s.depth+1)
	if !ok || reading.Problem != "" && len(reading.Fields) == 0 {
		return unread.WithNote("a call that is not read"), nil
	}
	if reading.Complete && value.path != "" {
		s.read[value.path] = true
	}
	shown := []chains.Field{chains.Text("calls", inner.To.String()), chains.Text("owner", reading.Owner),
		chains.Text("intent", reading.Intent)}
	for i, arg := range reading.Args {
		if i == 0 {
			shown = append(shown, chains.Text("function", reading.Function))
		}
		shown = append(shown, chains.Text("argument "+arg.Name, arg.Value))
	}
	return chains.List(f.Label, append(shown, reading.Fields...)...), nil
}

// addressIn returns the 20 bytes of a value that is an address, or a word with an address
// in its low bytes.
func addressIn(value located) ([]byte, bool) {
	raw := value.bytes()
	if len(raw) == 32 && allZero(raw[:12]) {
		raw = raw[12:]
	}
	return raw, len(raw) == 20 && value.Kind != chains.TypedText
}
