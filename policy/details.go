package policy

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/countersign-dev/countersign/chains"
)

// details are the fields of a transaction's summary, or of a part of it. Rules that use
// them apply to one chain, which their on names.
type details struct {
	request   *evaluation
	fields    []chains.Field
	namespace string // of the chain's addresses and amounts
}

// detailRoots are the variables of the chains' details, and the chain of each.
var detailRoots = map[string]string{
	"eth": "ethereum", "solana": "solana", "tron": "tron", "bitcoin": "bitcoin", "tempo": "tempo",
}

// detailTypes are the types of eth, eth.tx and so on.
var detailTypes = func() map[string]*types.Type {
	kinds := map[string]*types.Type{}
	for _, name := range []string{"eth", "eth.tx", "solana", "solana.tx", "solana.instruction", "tron", "tron.tx",
		"tron.contract", "bitcoin", "bitcoin.tx", "bitcoin.input", "bitcoin.output", "tempo", "tempo.tx", "tempo.call"} {
		kinds[name] = types.NewObjectType(name + " details")
	}
	return kinds
}()

// detail resolves a variable of detailRoots.
func (e *evaluation) detail(name string) (any, bool) {
	chain, known := detailRoots[name]
	if !known {
		return nil, false
	}
	if e.chain != chain {
		return types.WrapErr(absent(name)), true
	}
	if e.details == nil {
		e.details = &details{e, e.request.Summary.Fields, chainNamespaces[chain]}
	}
	return newObject(detailTypes[name], e.details), true
}

// field returns the field with a label.
func (d *details) field(label string) (*chains.Field, error) {
	for i := range d.fields {
		if d.fields[i].Label == label {
			return &d.fields[i], nil
		}
	}
	return nil, absent(label)
}

// at returns the field at a path of labels.
func (d *details) at(path ...string) (*chains.Field, error) {
	field, err := d.field(path[0])
	if err != nil || len(path) == 1 {
		return field, err
	}
	return d.part(field).at(path[1:]...)
}

// part returns the details within a field.
func (d *details) part(f *chains.Field) *details {
	return &details{d.request, f.Fields, d.namespace}
}

// detailField returns a member that is read from the summary's field at a path.
func detailField(kind *types.Type, read func(d *details, f *chains.Field) (ref.Val, error), path ...string) field {
	return member(kind, func(d *details) (ref.Val, error) {
		f, err := d.at(path...)
		if err != nil {
			return nil, err
		}
		return read(d, f)
	})
}

func detailText(path ...string) field {
	return detailField(types.StringType, func(_ *details, f *chains.Field) (ref.Val, error) { return types.String(f.Value), nil }, path...)
}

// detailBytes is bytes as text, in hex with 0x. It is absent if the summary shows only
// the beginning of them.
func detailBytes(path ...string) field {
	return detailField(types.StringType, func(_ *details, f *chains.Field) (ref.Val, error) {
		if f.Length != 0 {
			return nil, absent(f.Label)
		}
		return types.String("0x" + f.Value), nil
	}, path...)
}

func detailInteger(path ...string) field {
	return detailField(types.IntType, func(_ *details, f *chains.Field) (ref.Val, error) {
		value, err := strconv.ParseInt(f.Value, 10, 64)
		if err != nil {
			return nil, unknown(f.Label)
		}
		return types.Int(value), nil
	}, path...)
}

func detailAddress(path ...string) field {
	return detailField(addressType, func(d *details, f *chains.Field) (ref.Val, error) {
		if f.Type != chains.TypeAddress {
			return nil, unknown(f.Label) // an entry of a lookup table
		}
		if d.namespace == "bip122" { // a scriptPubKey; the network is only a guess
			script, err := hex.DecodeString(f.Value)
			return &address{namespace: d.namespace, bytes: string(script), text: f.Shown}, err
		}
		return parseAddress(f.Value)
	}, path...)
}

// detailAmount is an amount of the chain's native asset.
func detailAmount(path ...string) field {
	return detailField(amountType, func(d *details, f *chains.Field) (ref.Val, error) {
		value, ok := new(big.Int).SetString(f.Value, 10)
		if f.Type != chains.TypeAmount || !ok {
			return nil, unknown(f.Label)
		}
		return &amount{value: value, unit: unit{native: d.namespace}}, nil
	}, path...)
}

func detailTime(path ...string) field {
	return detailField(types.TimestampType, func(_ *details, f *chains.Field) (ref.Val, error) {
		instant, err := time.Parse(time.RFC3339Nano, f.Value)
		if f.Type != chains.TypeTime || err != nil {
			return nil, absent(f.Label)
		}
		return types.Timestamp{Time: instant}, nil
	}, path...)
}

// detailParts is a list of the fields within the field with a label, or within the
// details if label is empty; only those whose own label begins with prefix.
func detailParts(name, label, prefix string) field {
	kind := detailTypes[name]
	return plain(types.NewListType(kind), func(d *details) ref.Val {
		parent := d
		if label != "" {
			f, err := d.field(label)
			if err != nil {
				return newList(nil)
			}
			parent = d.part(f)
		}
		var parts []ref.Val
		for i := range parent.fields {
			if strings.HasPrefix(parent.fields[i].Label, prefix) {
				parts = append(parts, newObject(kind, parent.part(&parent.fields[i])))
			}
		}
		return newList(parts)
	})
}

// detailEffects is a list of the effects that pick selects.
func detailEffects(pick func(*effectView) bool) field {
	return plain(types.NewListType(effectType), func(d *details) ref.Val {
		var picked []ref.Val
		for i := range d.request.effects {
			if effect := &d.request.effects[i]; pick(effect) {
				picked = append(picked, &effect.object)
			}
		}
		return newList(picked)
	})
}
