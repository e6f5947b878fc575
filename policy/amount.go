package policy

import (
	"fmt"
	"math/big"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
)

// amountType is the type of amounts. It has comparison and addition only: no subtraction, which
// could underflow, no multiplication, and no comparison with a bare number, which has no unit.
var amountType = types.NewObjectType("amount", traits.ComparerType|traits.AdderType)

// amount is a number of the smallest units of an asset.
type amount struct {
	opaque
	value *big.Int
	unit  unit
}

// unit is what an amount counts. Amounts of different assets are neither compared nor
// added: 10,000,000 is 10 USDC, and nearly nothing in wei.
type unit struct {
	asset  chains.Asset // if native is empty and any is false
	native string       // CAIP-2 namespace whose native asset it is, on any network: "eip155"
	symbol string       // with native: the only such asset, such as ETH; empty: all
	any    bool         // smallest units of whatever it is compared with: units('…')
	value  bool         // what an effect is worth, in the currency of the file's prices
}

// matches reports whether amounts of both units can be compared.
func (u unit) matches(other unit) bool {
	switch {
	case u.value || other.value:
		return u.value == other.value
	case u.any || other.any:
		return true
	case u.native != "" && other.native != "":
		return u.native == other.native
	case u.native != "":
		return other.asset.IsNative() && namespaceOf(other.asset.Chain) == u.native &&
			(u.symbol == "" || chains.NetworkOf(other.asset.Chain).Symbol == u.symbol)
	case other.native != "":
		return other.matches(u)
	}
	return u.asset.Equal(other.asset)
}

// String names the unit in an error.
func (u unit) String() string {
	switch {
	case u.value:
		return "the currency of the prices"
	case u.any:
		return "any asset"
	case u.symbol != "":
		return u.symbol
	case u.native != "":
		return "the native asset of " + u.native
	}
	return assetText(u.asset)
}

func assetText(asset chains.Asset) string {
	switch {
	case asset.IsNone():
		return "no asset"
	case asset.IsNative():
		return "the native asset of " + asset.Chain
	case asset.TokenID != "":
		return asset.Chain + " " + asset.TokenID
	}
	return asset.Chain + " " + asset.Token.String()
}

func (a *amount) Add(other ref.Val) ref.Val {
	b, ok := other.(*amount)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if !a.unit.matches(b.unit) {
		return unlike(a, b, "added to")
	}
	sum := &amount{value: new(big.Int).Add(a.value, b.value), unit: a.unit}
	if a.unit.any {
		sum.unit = b.unit
	}
	return sum
}

func (a *amount) Compare(other ref.Val) ref.Val {
	b, ok := other.(*amount)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if !a.unit.matches(b.unit) {
		return unlike(a, b, "compared with")
	}
	return types.Int(a.value.Cmp(b.value))
}

func (a *amount) Equal(other ref.Val) ref.Val {
	switch compared := a.Compare(other).(type) {
	case types.Int:
		return types.Bool(compared == 0)
	default:
		return compared
	}
}

func unlike(a, b *amount, what string) ref.Val {
	return types.NewErr("an amount of %s cannot be %s an amount of %s: test effect.asset first", a.unit, what, b.unit)
}

func (*amount) Type() ref.Type { return amountType }

func (a *amount) Value() any { return a }

// String returns the amount for an explanation.
func (a *amount) String() string { return a.value.String() + " of " + a.unit.String() }

// maxAmountBits bounds amounts; no chain has larger ones.
const maxAmountBits = 256

// maxDecimals is the largest number of decimals of an asset.
const maxDecimals = 77

// parseUnits parses a decimal number such as 0.5 with up to decimals digits after the point, and
// returns it in smallest units. More digits, signs, exponents and separators are errors.
func parseUnits(text string, decimals int) (*big.Int, error) {
	whole, fraction, point := strings.Cut(text, ".")
	switch {
	case !isDigits(whole), point && !isDigits(fraction):
		return nil, fmt.Errorf("%q is not a decimal number such as 0.5", shorten(text))
	case len(whole) > 1 && whole[0] == '0':
		return nil, fmt.Errorf("%q has a leading zero", shorten(text))
	case len(fraction) > decimals:
		return nil, fmt.Errorf("%q has %d digits after the point; the unit has %d",
			shorten(text), len(fraction), decimals)
	case len(whole)+decimals > 2*maxDecimals:
		return nil, fmt.Errorf("%q is wider than 256 bits", shorten(text))
	}
	value, _ := new(big.Int).SetString(whole+fraction+strings.Repeat("0", decimals-len(fraction)), 10)
	if value.BitLen() > maxAmountBits {
		return nil, fmt.Errorf("%q is wider than 256 bits", shorten(text))
	}
	return value, nil
}

// parseValue parses an amount of the currency.
func parseValue(text string) (ref.Val, error) {
	value, err := parseUnits(text, valueDecimals)
	return &amount{value: value, unit: unit{value: true}}, err
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
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
	unit, decimals := a.unit()
	return chains.Decimal(units.String(), decimals) + " " + unit
}

// unit returns what amounts are shown in, and the digits after its point.
func (a *asset) unit() (name string, decimals int) {
	symbol, decimals, ok := chains.TokenOf(a.Asset, nil)
	switch {
	case ok && a.decimals < 0:
		return symbol, decimals
	case a.decimals < 0:
		return "units of " + a.name, 0
	case ok:
		return symbol, a.decimals
	}
	return a.name, a.decimals
}

func (a *asset) Equal(other ref.Val) ref.Val {
	b, ok := other.(*asset)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(a.Asset.Equal(b.Asset))
}

func (*asset) Type() ref.Type { return assetType }

func (a *asset) Value() any { return a }

// String names the asset.
func (a *asset) String() string {
	if a.IsNone() {
		return a.name // of a currency
	}
	return assetText(a.Asset)
}

// namespaceOf returns the namespace of a CAIP-2 id, or of one that names no network.
func namespaceOf(chain string) string {
	namespace, _, _ := strings.Cut(chain, ":")
	return namespace
}
