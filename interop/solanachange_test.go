package interop

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/address/v2/base58"
	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
)

// accountState is an account in numbers and bytes.
type accountState struct {
	lamports uint64
	owner    sdk.PublicKey
	data     []byte
}

func stateOf(a *chainAccount) (s accountState) {
	if a == nil {
		return s
	}
	s.lamports, _ = strconv.ParseUint(a.Lamports, 10, 64)
	s.owner = sdk.MustPublicKeyFromBase58(a.Owner)
	s.data, _ = hex.DecodeString(a.Data)
	return s
}

// change is the change of one account, and the effects that must explain it.
type change struct {
	effects       []chains.Effect
	address       string
	before, after accountState
}

// problems returns what the effects do not explain.
func (c change) problems() (problems []string) {
	for name, explained := range map[string]func() bool{
		"lamports": c.lamports, "owner": c.owner, "token amount": c.tokenAmount, "delegate": c.delegate,
		"token authority": c.tokenAuthority, "supply": c.supply, "stake authority": c.stakeAuthority, "data": c.data,
		"promise": c.kept, "setting": c.set,
	} {
		if !explained() {
			problems = append(problems, name)
		}
	}
	return problems
}

func (c change) is(p chains.Party) bool { return !p.IsNone() && p.String() == c.address }

func (c change) any(holds func(e chains.Effect) bool) bool {
	return slices.ContainsFunc(c.effects, holds)
}

// flow is what the effects of an asset take from an account and give to it. It is loose
// if some amount is not exact.
type flow struct {
	out, in           *big.Int
	unbounded, gained bool // what goes out has no bound; something comes in
	loose             bool
}

func (c change) flow(of func(chains.Asset) bool) (f flow) {
	f.out, f.in = new(big.Int), new(big.Int)
	for _, e := range c.effects {
		if e.Asset.IsNone() || !of(e.Asset) || e.Kind == chains.KindApprove || e.Kind == chains.KindStake || e.Kind == chains.KindUnstake && e.To.IsNone() || e.Kind == chains.KindRevoke {
			continue
		}
		exact := e.Amount.Bound == chains.BoundExact && e.Amount.Value != nil
		if c.is(e.From) && e.Kind != chains.KindMint {
			f.loose = f.loose || !exact
			f.unbounded = f.unbounded || e.Amount.Value == nil
			if e.Amount.Value != nil {
				f.out.Add(f.out, e.Amount.Value)
			}
		}
		if c.is(e.To) {
			f.gained, f.loose = true, f.loose || !exact
			if e.Amount.Value != nil {
				f.in.Add(f.in, e.Amount.Value)
			}
		}
	}
	return f
}

// explains reports whether the flow can turn one amount into another.
func (f flow) explains(before, after uint64) bool {
	delta := new(big.Int).Sub(new(big.Int).SetUint64(after), new(big.Int).SetUint64(before))
	if !f.loose {
		return delta.Cmp(new(big.Int).Sub(f.in, f.out)) == 0
	}
	if delta.Sign() < 0 {
		return f.unbounded || new(big.Int).Neg(delta).Cmp(f.out) <= 0
	}
	return delta.Sign() == 0 || f.gained
}

func (c change) lamports() bool {
	return c.flow(chains.Asset.IsNative).explains(c.before.lamports, c.after.lamports)
}

// emptied reports whether the account has no SOL left, and so no longer exists.
func (c change) emptied() bool { return c.after.lamports == 0 }

func (c change) controlled(e chains.Effect) bool {
	return e.Kind == chains.KindAuthority && c.is(e.Account) || e.Kind == chains.KindCreate && c.is(e.To)
}

func (c change) owner() bool {
	return c.before.owner == c.after.owner || c.emptied() || c.before.lamports == 0 && c.after.owner == sdk.SystemProgramID || c.any(c.controlled)
}

func isToken(s accountState) bool {
	return (s.owner == sdk.TokenProgramID || s.owner == sdk.Token2022ProgramID) && len(s.data) >= 165 && len(s.data) != 355 && (len(s.data) == 165 || s.data[165] == 2)
}

func isMint(s accountState) bool {
	return (s.owner == sdk.TokenProgramID || s.owner == sdk.Token2022ProgramID) && (len(s.data) == 82 || len(s.data) > 165 && s.data[165] == 1)
}

// tokenAmount skips wrapped SOL, whose amount follows from the lamports.
func (c change) tokenAmount() bool {
	if !isToken(c.before) || !isToken(c.after) || bytes.Equal(c.after.data[:32], nativeMint[:]) {
		return true
	}
	mint := sdk.PublicKey(c.after.data[:32]).String()
	f := c.flow(func(a chains.Asset) bool { return !a.IsNative() && (a.IsUnknown() || a.Token.String() == mint) })
	return f.explains(binary.LittleEndian.Uint64(c.before.data[64:]), binary.LittleEndian.Uint64(c.after.data[64:]))
}

func (c change) moved(from, to int) bool {
	return len(c.before.data) >= to && len(c.after.data) >= to && !bytes.Equal(c.before.data[from:to], c.after.data[from:to])
}

// delegate reports whether a changed delegate was approved, revoked, used up by a transfer,
// or lost with a change of owner.
func (c change) delegate() bool {
	if !isToken(c.before) || !isToken(c.after) || !c.moved(72, 108) && !c.moved(121, 129) {
		return true
	}
	return c.any(func(e chains.Effect) bool {
		switch e.Kind {
		case chains.KindApprove, chains.KindRevoke, chains.KindTransfer, chains.KindBurn:
			return c.is(e.From)
		}
		return c.controlled(e)
	})
}

func (c change) tokenAuthority() bool {
	switch {
	case isToken(c.before) && isToken(c.after):
		owners := !c.moved(32, 64) && !c.moved(129, 165) || c.any(c.controlled) ||
			c.any(func(e chains.Effect) bool { return e.Kind == chains.KindRevoke && c.is(e.Account) })
		state := !c.moved(108, 109) || c.any(c.controlled) || c.any(func(e chains.Effect) bool { return e.Kind == chains.KindFreeze && c.is(e.Account) })
		return owners && state
	case isMint(c.before) && isMint(c.after):
		return !c.moved(0, 36) && !c.moved(46, 82) || c.any(c.controlled)
	}
	return true
}

// supply reports whether mints and burns explain the supply of a mint.
func (c change) supply() bool {
	if !isMint(c.before) || !isMint(c.after) {
		return true
	}
	before, after := binary.LittleEndian.Uint64(c.before.data[36:]), binary.LittleEndian.Uint64(c.after.data[36:])
	total := new(big.Int).SetUint64(before)
	for _, e := range c.effects {
		if e.Asset.IsNone() || e.Asset.Token.String() != c.address || e.Amount.Value == nil {
			continue
		}
		switch e.Kind {
		case chains.KindMint:
			total.Add(total, e.Amount.Value)
		case chains.KindBurn:
			total.Sub(total, e.Amount.Value)
		}
	}
	return total.Cmp(new(big.Int).SetUint64(after)) == 0
}

// stakeAuthority checks staker, withdrawer, lockup and delegation.
func (c change) stakeAuthority() bool {
	if c.before.owner != sdk.StakeProgramID || c.after.owner != sdk.StakeProgramID || len(c.before.data) < stakeSize || len(c.after.data) < stakeSize {
		return true
	}
	split := func(e chains.Effect) bool { return e.Kind == chains.KindTransfer && c.is(e.To) }
	given := func(e chains.Effect) bool {
		return c.controlled(e) || e.Kind == chains.KindStake && c.is(e.Account) && !e.To.IsNone()
	}
	locked := func(e chains.Effect) bool { return given(e) || e.Kind == chains.KindFreeze && c.is(e.Account) }
	newborn := binary.LittleEndian.Uint32(c.before.data) == 0
	return (!c.moved(12, 76) || c.any(given) || newborn && c.any(split)) && (!c.moved(76, 124) || c.any(locked) || newborn && c.any(split))
}

// data reports whether changed data belongs to an effect that names the account.
func (c change) data() bool {
	return bytes.Equal(c.before.data, c.after.data) || c.emptied() ||
		c.any(func(e chains.Effect) bool {
			return c.is(e.From) || c.is(e.To) || c.is(e.Account) || !e.Asset.IsNone() && c.is(e.Asset.Token)
		})
}

// set reports whether the account has what an effect says that it is set to: addresses, and
// numbers that are not small. What another instruction changes too is not compared.
func (c change) set() bool {
	for _, e := range c.effects {
		if e.Kind != chains.KindSettings || !c.is(e.Account) || c.emptied() ||
			c.any(func(o chains.Effect) bool { return o.Path != e.Path && c.is(o.Account) }) {
			continue
		}
		for _, arg := range e.Args {
			want := base58.Decode(arg.Value)
			if number, err := strconv.ParseUint(arg.Value, 10, 64); err == nil && number > 255 {
				want = bytes.TrimRight(binary.LittleEndian.AppendUint64(nil, number), "\x00")
			} else if len(want) != 32 {
				continue
			}
			if !bytes.Contains(c.after.data, want) {
				return false
			}
		}
	}
	return true
}

// kept reports whether the last effect about the account's authority came true.
func (c change) kept() bool {
	for _, e := range slices.Backward(c.effects) {
		to := e.To.Address()
		for _, arg := range e.Args { // a program that gets the account is no party
			if to == nil && arg.Name == "owner" {
				to = sdk.MustPublicKeyFromBase58(arg.Value).Bytes()
			}
		}
		if e.Kind == chains.KindAuthority && c.is(e.Account) && to != nil && !c.emptied() {
			return bytes.Contains(c.after.data, to) || bytes.Equal(c.after.owner[:], to) || c.any(func(o chains.Effect) bool {
				return o.Path != e.Path && (c.is(o.Account) || c.is(o.To) || c.is(o.From))
			})
		}
	}
	return true
}
