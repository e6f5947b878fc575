package policy

import (
	"encoding/hex"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
)

// Types of the objects that expressions look into.
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

// effectView is an effect as an expression sees it.
type effectView struct {
	*chains.Effect
	index     int
	namespace string // of the addresses
	object    object // the value that an expression gets
	reading   *chains.Reading
}

func newEffectViews(effects []chains.Effect, chain string, readings chains.Readings) []effectView {
	views := make([]effectView, len(effects))
	for i := range effects {
		views[i] = effectView{Effect: &effects[i], index: i, namespace: namespaceOfChain(chain, &effects[i])}
		views[i].object = object{effectType, &views[i]}
		if reading, ok := readings.At(effects[i].Path); ok && reading.Function != "" {
			views[i].reading = &reading
		}
	}
	return views
}

// chainNamespaces are the CAIP-2 namespaces of the chains whose transactions are read.
var chainNamespaces = map[string]string{
	"ethereum": "eip155", "tempo": "eip155", "solana": "solana", "tron": "tron", "bitcoin": "bip122",
}

// namespaceOfChain returns the namespace of an effect's addresses. A message
// has no chain of its own; its effects name theirs.
func namespaceOfChain(chain string, effect *chains.Effect) string {
	if known, ok := chainNamespaces[chain]; ok {
		return known
	}
	return namespaceOf(effect.Asset.Chain)
}

// party returns a party as an address.
func (e *effectView) party(party chains.Party, name string) (ref.Val, error) {
	switch {
	case party.IsNone():
		return nil, absent(name)
	case party.IsUnknown(), party.IsSigner():
		return nil, unknown(name)
	}
	at := string(party.Address())
	if e.namespace == "" {
		return addressBySize(at, party, name)
	}
	return &address{namespace: e.namespace, bytes: at, text: party.String(), of: tokenAccountOf(e, at)}, nil
}

// addressBySize is an address of an effect that names no chain, as one without
// an asset in a message: its size says which chains have such addresses.
func addressBySize(at string, party chains.Party, name string) (ref.Val, error) {
	namespace, ok := map[int]string{20: "eip155", 21: "tron", 32: "solana"}[len(at)]
	if !ok {
		return nil, unknown(name)
	}
	return &address{namespace: namespace, bytes: at, text: party.String()}, nil
}

// amount returns what leaves the party, as far as it is bounded from above.
func (e *effectView) amount() (ref.Val, error) {
	switch {
	case e.Amount.IsNone():
		return nil, absent("effect.amount")
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

// argument returns an argument of a call by its name.
func (e *effectView) argument(name string) ref.Val {
	for i := range e.Args {
		if e.Args[i].Name == name {
			return types.String(e.Args[i].Value)
		}
	}
	return types.WrapErr(absent("effect.arg('" + shorten(name) + "')"))
}

func effectFields() map[string]field {
	text := types.StringType
	return map[string]field{
		"kind":       plain(text, func(e *effectView) ref.Val { return types.String(e.Kind) }),
		"by":         plain(text, func(e *effectView) ref.Val { return types.String(e.By) }),
		"from":       member(addressType, func(e *effectView) (ref.Val, error) { return e.party(e.From, "effect.from") }),
		"to":         member(addressType, func(e *effectView) (ref.Val, error) { return e.party(e.To, "effect.to") }),
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
			return &object{readingType, e.reading}, nil
		}),
		"function": member(text, func(e *effectView) (ref.Val, error) {
			if e.Function == "" {
				return nil, absent("effect.function")
			}
			return types.String(e.Function), nil
		}),
	}
}

// readingFields are of what descriptors say of a call.
func readingFields() map[string]field {
	text := func(of func(*chains.Reading) string, name string) field {
		return member(types.StringType, func(r *chains.Reading) (ref.Val, error) {
			if of(r) == "" {
				return nil, absent("effect.reading." + name)
			}
			return types.String(of(r)), nil
		})
	}
	return map[string]field{
		"function": text(func(r *chains.Reading) string { return r.Function }, "function"),
		"intent":   text(func(r *chains.Reading) string { return r.Intent }, "intent"),
		"owner":    text(func(r *chains.Reading) string { return r.Owner }, "owner"),
		"digest":   text(func(r *chains.Reading) string { return r.Digest }, "digest"),
		"complete": plain(types.BoolType, func(r *chains.Reading) ref.Val { return types.Bool(r.Complete) }),
	}
}

// readArgument returns an argument that a descriptor names.
func readArgument(reading *chains.Reading, name string) ref.Val {
	for i := range reading.Args {
		if reading.Args[i].Name == name {
			return types.String(reading.Args[i].Value)
		}
	}
	return types.WrapErr(absent("effect.reading.arg('" + shorten(name) + "')"))
}

// asset is an asset as an expression sees it, with its decimals where the file
// gives them.
type asset struct {
	chains.Asset
	decimals int
}

// Equal implements ref.Val.
func (a *asset) Equal(other ref.Val) ref.Val {
	b, ok := other.(*asset)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(a.Asset.Equal(b.Asset))
}

// ConvertToNative implements ref.Val.
func (a *asset) ConvertToNative(to reflect.Type) (any, error) {
	return (&object{assetType, a}).ConvertToNative(to)
}

// ConvertToType implements ref.Val.
func (a *asset) ConvertToType(to ref.Type) ref.Val { return (&object{assetType, a}).ConvertToType(to) }

// Type implements ref.Val.
func (*asset) Type() ref.Type { return assetType }

// Value implements ref.Val.
func (a *asset) Value() any { return a }

// String names the asset in an explanation.
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
	text := func(of func(*countersign.SigningKey) string, name string) field {
		return member(types.StringType, func(k *countersign.SigningKey) (ref.Val, error) {
			if of(k) == "" {
				return nil, absent("key." + name)
			}
			return types.String(of(k)), nil
		})
	}
	return map[string]field{
		"id":          text(func(k *countersign.SigningKey) string { return k.ID }, "id"),
		"name":        text(func(k *countersign.SigningKey) string { return k.Name }, "name"),
		"wallet":      text(func(k *countersign.SigningKey) string { return k.WalletID }, "wallet"),
		"wallet_name": text(func(k *countersign.SigningKey) string { return k.WalletName }, "wallet_name"),
		"path":        text(func(k *countersign.SigningKey) string { return k.Path }, "path"),
		"addresses": member(types.NewListType(addressType), func(k *countersign.SigningKey) (ref.Val, error) {
			list := make([]*address, 0, len(k.Addresses))
			for _, one := range k.Addresses {
				read, err := parseAddress(one)
				if err != nil {
					return nil, unknown("key.addresses")
				}
				list = append(list, read)
			}
			return newAddressList(list), nil
		}),
	}
}

func userFields() map[string]field {
	return map[string]field{
		"id":   plain(types.StringType, func(u *countersign.User) ref.Val { return types.String(u.ID) }),
		"name": plain(types.StringType, func(u *countersign.User) ref.Val { return types.String(u.Name) }),
		"tags": plain(types.NewListType(types.StringType), func(u *countersign.User) ref.Val { return textList(u.Tags) }),
	}
}

func credentialFields() map[string]field {
	return map[string]field{
		"id":         plain(types.StringType, func(e *evaluation) ref.Val { return types.String(e.asked.Credential.ID()) }),
		"passkey":    plain(types.BoolType, func(e *evaluation) ref.Val { return types.Bool(e.asked.Credential.IsPasskey()) }),
		"public_key": plain(types.StringType, func(e *evaluation) ref.Val { return types.String(e.asked.Credential.PublicKeyText()) }),
	}
}

// requestFields are of the request as a whole; the sums are request.total(…).
func requestFields() map[string]field {
	return map[string]field{
		"type": plain(types.StringType, func(e *evaluation) ref.Val { return types.String(e.activityType()) }),
		"hazards": plain(types.NewListType(types.StringType), func(e *evaluation) ref.Val {
			names := make([]string, len(e.asked.Hazards))
			for i := range e.asked.Hazards {
				names[i] = e.asked.Hazards[i].Name
			}
			return textList(names)
		}),
		"chain": plain(types.StringType, func(e *evaluation) ref.Val { return types.String(e.chain) }),
	}
}

func timeFields() map[string]field {
	return map[string]field{
		"now": plain(types.TimestampType, func(e *evaluation) ref.Val { return types.Timestamp{Time: e.asked.Now} }),
	}
}

// objectFields are the fields of all objects.
func objectFields() map[*types.Type]map[string]field {
	fields := map[*types.Type]map[string]field{
		effectType: effectFields(), assetType: assetFields(), keyType: keyFields(), userType: userFields(),
		credentialType: credentialFields(), requestType: requestFields(), timeType: timeFields(), readingType: readingFields(),
	}
	addDetailFields(fields)
	return fields
}

func textList(texts []string) ref.Val { return types.NewStringList(types.DefaultTypeAdapter, texts) }

func hexText(value []byte) string { return "0x" + hex.EncodeToString(value) }
