package policy

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
)

// Types of the objects in expressions.
var (
	effectType     = types.NewObjectType("effect")
	assetType      = types.NewObjectType("asset")
	keyType        = types.NewObjectType("key")
	userType       = types.NewObjectType("user")
	credentialType = types.NewObjectType("credential")
	readingType    = types.NewObjectType("reading")
	timeType       = types.NewObjectType("time")
	requestType    = types.NewObjectType("request")
)

// effectView is an effect as seen by expressions.
type effectView struct {
	*chains.Effect
	index     int
	namespace string                                    // of its addresses
	unnamed   func(network string, address []byte) bool // chains.Words.Unnamed
	object    object                                    // its value in expressions
	reading   *chains.Reading
	paid      bool     // it is change, and there is nothing else: see setPurposes
	alone     bool     // it is a fee, and there is nothing else
	net       *big.Int // of what is received: see setOff
	passedOn  bool     // if something is received: see setOff
}

func newEffectViews(effects []chains.Effect, chain string, readings chains.Readings) []effectView {
	views := make([]effectView, len(effects))
	said, named := words().chains[chain]
	for i := range effects {
		namespace := said.Namespace
		if !named {
			namespace = namespaceOf(effects[i].Asset.Chain) // a message has no chain; its effects name theirs
		}
		views[i] = effectView{Effect: &effects[i], index: i, namespace: namespace, unnamed: said.Unnamed}
		views[i].object = object{kind: effectType, of: &views[i]}
		if reading, ok := readings.Of(&effects[i]); ok && reading.Function != "" {
			views[i].reading = &reading
		}
	}
	return views
}

// party returns a party as an address. name is what errors call it.
func (e *effectView) party(party chains.Party, name string) (ref.Val, error) {
	switch {
	case party.IsNone():
		return nil, absent(name)
	case party.IsUnknown(), party.IsSigner():
		return nil, unknown(name)
	}
	raw := party.Address()
	read := &address{namespace: e.namespace, bytes: string(raw), text: party.Shown()}
	if name == "effect.to" {
		read.owners = e.Owners
	}
	switch {
	case e.isUnnamed(raw):
		return nil, unknown(name)
	case e.namespace == "": // an effect without an asset, in a message: the size determines the chain
		read.namespace = words().ofSize(len(read.bytes))
	case words().holdsTokensApart(e.namespace) && !e.Asset.IsUnknown():
		read.mint = string(e.Asset.Token.Address())
	}
	if read.namespace == "" {
		return nil, unknown(name)
	}
	return read, nil
}

// isUnnamed reports whether an address stands for an account that the bytes do not name.
func (e *effectView) isUnnamed(address []byte) bool {
	return e.unnamed != nil && e.unnamed(e.Asset.Chain, address)
}

// mine returns whether the recipient is an account of the organization. Of a recipient
// that the bytes do not name, and without the keystore, that is unknown.
func (e *effectView) mine() (ref.Val, error) {
	if e.Controlled == chains.ControlledUnknown || e.isUnnamed(e.To.Address()) {
		return nil, unknown("effect.mine")
	}
	return types.Bool(e.Controlled == chains.ControlledYes), nil
}

// amount returns the amount if it has an upper bound. Of what is received, it returns the
// least that is more than is given of it, which is what a rule can require.
func (e *effectView) amount() (ref.Val, error) {
	switch {
	case e.Amount.IsNone():
		return nil, absent("effect.amount")
	case e.net != nil && !e.Asset.IsUnknown():
		return &amount{value: e.net, unit: unit{asset: e.Asset}}, nil
	case e.Amount.IsUnknown(), e.Asset.IsUnknown():
		return nil, unknown("effect.amount")
	}
	return &amount{value: e.Amount.Value, unit: unit{asset: e.Asset}}, nil
}

func (e *effectView) asset() (ref.Val, error) {
	switch {
	case e.Asset.IsNone():
		return nil, absent("effect.asset")
	case e.Asset.IsUnknown():
		return nil, unknown("effect.asset")
	}
	return &asset{Asset: e.Asset}, nil
}

func (e *effectView) until() (ref.Val, error) {
	switch {
	case e.Until.IsNone():
		return nil, absent("effect.until")
	case e.Until.Time.IsZero():
		return nil, unknown("effect.until")
	}
	return types.Timestamp{Time: e.Until.Time}, nil
}

// argument returns an argument of the effect by name. An account that the bytes do not name is
// unknown.
func (e *effectView) argument(name string) ref.Val {
	if slices.Contains(e.Unresolved, name) {
		return types.WrapErr(unknown("effect.arg('" + shorten(name) + "')"))
	}
	return argument(e.Args, "effect", name)
}

// number returns an argument that is an integer of 64 bits with a sign. Any other is unknown.
func (e *effectView) number(name string) ref.Val {
	text, ok := e.argument(name).(types.String)
	if !ok {
		return e.argument(name) // the error
	}
	number, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return types.WrapErr(fmt.Errorf("effect.number('%s') is %q, which is no integer of 64 bits", shorten(name), shorten(string(text))))
	}
	return types.Int(number)
}

// argument returns the argument of a call that has a name. owner is the object that has it.
func argument(args []chains.Arg, owner, name string) ref.Val {
	asked := owner + ".arg('" + shorten(name) + "')"
	found := types.WrapErr(absent(asked))
	for i := range args {
		switch {
		case args[i].Name != name:
		case !types.IsError(found):
			return types.NewErr("%s: two arguments have this name, so that it names neither", asked)
		default:
			found = types.String(args[i].Value)
		}
	}
	return found
}

// presentText returns a text member that is absent if it is empty.
func presentText[T any](name string, get func(T) string) field {
	return member(types.StringType, func(of T) (ref.Val, error) {
		if get(of) == "" {
			return nil, absent(name)
		}
		return types.String(get(of)), nil
	})
}

func effectFields() map[string]field {
	text := types.StringType
	return map[string]field{
		"kind":       plain(text, func(e *effectView) ref.Val { return types.String(e.Kind) }),
		"by":         plain(text, func(e *effectView) ref.Val { return types.String(e.By) }),
		"from":       member(addressType, func(e *effectView) (ref.Val, error) { return e.party(e.From, "effect.from") }),
		"to":         member(addressType, func(e *effectView) (ref.Val, error) { return e.party(e.To, "effect.to") }),
		"mine":       member(types.BoolType, (*effectView).mine),
		"account":    member(addressType, func(e *effectView) (ref.Val, error) { return e.party(e.Account, "effect.account") }),
		"asset":      member(assetType, (*effectView).asset),
		"amount":     member(amountType, (*effectView).amount),
		"bound":      plain(text, func(e *effectView) ref.Val { return types.String(e.Amount.Bound) }),
		"unlimited":  plain(types.BoolType, func(e *effectView) ref.Val { return types.Bool(e.Amount.Bound == chains.BoundUnlimited) }),
		"until":      member(types.TimestampType, (*effectView).until),
		"decoded":    plain(types.BoolType, func(e *effectView) ref.Val { return types.Bool(!e.Undecoded) }),
		"unresolved": plain(types.NewListType(text), func(e *effectView) ref.Val { return textList(e.Unresolved) }),
		"reading": member(readingType, func(e *effectView) (ref.Val, error) {
			if e.reading == nil {
				return nil, absent("effect.reading")
			}
			return newObject(readingType, e.reading), nil
		}),
		"function": presentText("effect.function", func(e *effectView) string { return e.Function }),
		"owners": member(types.NewListType(addressType), func(e *effectView) (ref.Val, error) {
			if len(e.Owners) == 0 {
				return nil, absent("effect.owners")
			}
			owners := make([]ref.Val, len(e.Owners))
			for i, owner := range e.Owners {
				var err error
				if owners[i], err = e.party(owner, "effect.owners"); err != nil {
					return nil, err
				}
			}
			return newList(owners), nil
		}),
		"domain": presentText("effect.domain", func(e *effectView) string { return e.Domain }),
	}
}

// readingFields are what descriptors say about a call.
func readingFields() map[string]field {
	return map[string]field{
		"function": presentText("effect.reading.function", func(r *chains.Reading) string { return r.Function }),
		"intent":   presentText("effect.reading.intent", func(r *chains.Reading) string { return r.Intent }),
		"owner":    presentText("effect.reading.owner", func(r *chains.Reading) string { return r.Owner }),
		"digest":   presentText("effect.reading.digest", func(r *chains.Reading) string { return r.Digest }),
		"complete": plain(types.BoolType, func(r *chains.Reading) ref.Val { return types.Bool(r.Complete) }),
	}
}

// asset is an asset as seen by expressions: one of the file, or that of an effect.
type asset struct {
	opaque
	chains.Asset

	// Of an asset of the file.
	name     string
	decimals int // -1 if the file does not give them
	place    source.Place
	used     bool
}

// decimal formats a number of smallest units as a decimal number.
func (a *asset) decimal(units *big.Int) string { return chains.Decimal(units.String(), a.decimals) }

// amount formats a number of smallest units with the asset's symbol, or its name in the file.
func (a *asset) amount(units *big.Int) string {
	symbol, decimals, ok := chains.TokenOf(a.Asset, nil)
	switch {
	case ok && a.decimals < 0:
		return chains.Decimal(units.String(), decimals) + " " + symbol
	case a.decimals < 0:
		return units.String() + " units of " + a.name
	case ok:
		return a.decimal(units) + " " + symbol
	}
	return a.decimal(units) + " " + a.name
}

// Equal implements ref.Val.
func (a *asset) Equal(other ref.Val) ref.Val {
	b, ok := other.(*asset)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(a.Asset.Equal(b.Asset))
}

// Type implements ref.Val.
func (*asset) Type() ref.Type { return assetType }

// Value implements ref.Val.
func (a *asset) Value() any { return a }

// String names the asset.
func (a *asset) String() string { return assetText(a.Asset) }

func assetFields() map[string]field {
	return map[string]field{
		"chain":    plain(types.StringType, func(a *asset) ref.Val { return types.String(a.Chain) }),
		"native":   plain(types.BoolType, func(a *asset) ref.Val { return types.Bool(a.IsNative()) }),
		"standard": plain(types.StringType, func(a *asset) ref.Val { return types.String(a.Standard) }),
		"token": member(addressType, func(a *asset) (ref.Val, error) {
			if a.Token.IsNone() {
				return nil, absent("asset.token")
			}
			return &address{namespace: namespaceOf(a.Chain), bytes: string(a.Token.Address()), text: a.Token.String()}, nil
		}),
		"id": member(types.StringType, func(a *asset) (ref.Val, error) {
			switch {
			case a.NFT != nil:
				return types.String(a.NFT.String()), nil
			case a.TokenID != "":
				return types.String(a.TokenID), nil
			}
			return nil, absent("asset.id")
		}),
	}
}

func keyFields() map[string]field {
	return map[string]field{
		"id":          presentText("key.id", func(k *access.SigningKey) string { return k.ID }),
		"name":        presentText("key.name", func(k *access.SigningKey) string { return k.Name }),
		"wallet":      presentText("key.wallet", func(k *access.SigningKey) string { return k.WalletID }),
		"wallet_name": presentText("key.wallet_name", func(k *access.SigningKey) string { return k.WalletName }),
		"path":        presentText("key.path", func(k *access.SigningKey) string { return k.Path }),
		"addresses": member(types.NewListType(addressType), func(k *access.SigningKey) (ref.Val, error) {
			list := make([]*address, 0, len(k.Addresses))
			for _, address := range k.Addresses {
				read, err := words().readAddress(address)
				if err != nil {
					return nil, unknown("key.addresses")
				}
				list = append(list, read)
			}
			return newAddressList(list, false), nil
		}),
	}
}

func userFields() map[string]field {
	return map[string]field{
		"id":   plain(types.StringType, func(u *access.User) ref.Val { return types.String(u.ID) }),
		"name": plain(types.StringType, func(u *access.User) ref.Val { return types.String(u.Name) }),
		"tags": plain(types.NewListType(types.StringType), func(u *access.User) ref.Val { return textList(u.Tags) }),
	}
}

func credentialFields() map[string]field {
	return map[string]field{
		"id":         plain(types.StringType, func(e *evaluation) ref.Val { return types.String(e.request.Credential.ID()) }),
		"passkey":    plain(types.BoolType, func(e *evaluation) ref.Val { return types.Bool(e.request.Credential.IsPasskey()) }),
		"public_key": plain(types.StringType, func(e *evaluation) ref.Val { return types.String(e.request.Credential.PublicKeyText()) }),
	}
}

// requestFields are the members of the request as a whole; request.total(…) is a function.
func requestFields() map[string]field {
	return map[string]field{
		"type": plain(types.StringType, func(e *evaluation) ref.Val { return types.String(e.activityType()) }),
		"hazards": plain(types.NewListType(types.StringType), func(e *evaluation) ref.Val {
			names := make([]string, len(e.request.Hazards))
			for i := range e.request.Hazards {
				names[i] = e.request.Hazards[i].Name
			}
			return textList(names)
		}),
		"chain": plain(types.StringType, func(e *evaluation) ref.Val { return types.String(e.chain) }),
	}
}

// objectFields are the members of all objects.
func objectFields() map[*types.Type]map[string]field {
	fields := map[*types.Type]map[string]field{
		effectType: effectFields(), assetType: assetFields(), keyType: keyFields(), userType: userFields(),
		credentialType: credentialFields(), requestType: requestFields(), readingType: readingFields(),
		timeType: {"now": plain(types.TimestampType, func(e *evaluation) ref.Val { return types.Timestamp{Time: e.request.Now} })},
	}
	maps.Copy(fields, words().details)
	return fields
}

func textList(texts []string) ref.Val { return types.NewStringList(types.DefaultTypeAdapter, texts) }

func hexText(value []byte) string { return "0x" + hex.EncodeToString(value) }
