package interop

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	sdk "github.com/gagliardetto/solana-go"
)

// chainAccount is an account as litesvm keeps it.
type chainAccount struct {
	Address  string `json:"address"`
	Owner    string `json:"owner"`
	Lamports string `json:"lamports"`
	Data     string `json:"data"`
}

// world has the accounts of one run: their names, addresses and contents. Runs share no
// accounts.
type world struct {
	*rand.Rand
	number    int
	addresses map[string]sdk.PublicKey
	accounts  []chainAccount
}

const (
	sol      = 1_000_000_000
	decimals = 6
)

var nativeMint = sdk.MustPublicKeyFromBase58("So11111111111111111111111111111111111111112")

func newWorld(random *rand.Rand, number int) *world { return newWorldOf(random, number, nil) }

// newWorldOf is newWorld in which some names have given addresses.
func newWorldOf(random *rand.Rand, number int, given map[string]sdk.PublicKey) *world {
	w := &world{Rand: random, number: number, addresses: map[string]sdk.PublicKey{
		"system": sdk.SystemProgramID, "clock": sdk.SysVarClockPubkey, "rent": sdk.SysVarRentPubkey, "blockhashes": sdk.SysVarRecentBlockHashesPubkey,
		"history": sdk.SysVarStakeHistoryPubkey, "config": sdk.MustPublicKeyFromBase58("StakeConfig11111111111111111111111111111111"),
		"slothashes": sdk.SysVarSlotHashesPubkey, "nativemint": nativeMint,
		"token": sdk.TokenProgramID, "token2022": sdk.Token2022ProgramID, "ata": sdk.SPLAssociatedTokenAccountProgramID,
	}}
	maps.Copy(w.addresses, given)
	w.put("us", sdk.SystemProgramID, 100*sol, nil)
	w.put("bob", sdk.SystemProgramID, 50*sol, nil)
	w.put("carol", sdk.SystemProgramID, 5*sol, nil)
	for _, program := range []string{"token", "token2022"} {
		w.tokens(program)
	}
	w.nonces()
	w.stakes()
	w.loaders()
	w.tables()
	return w
}

// at returns the address of a name, which need not have an account.
func (w *world) at(name string) sdk.PublicKey {
	if address, ok := w.addresses[name]; ok {
		return address
	}
	address := sdk.PublicKey(sha256.Sum256(fmt.Appendf(nil, "world %d %s", w.number, name)))
	w.addresses[name] = address
	return address
}

func (w *world) put(name string, owner sdk.PublicKey, lamports uint64, data []byte) {
	w.accounts = append(w.accounts, chainAccount{w.at(name).String(), owner.String(), fmt.Sprint(lamports), hex.EncodeToString(data)})
}

// rentExempt returns the minimum balance of an account of a size, in lamports.
func rentExempt(size int) uint64 { return uint64(size+128) * 6960 }

// tokens creates mints and accounts of a token program: ours and bob's, one of wrapped
// SOL, a frozen one, one of a multisig, and some that are not initialized.
func (w *world) tokens(program string) {
	owner := w.addresses[program]
	p := program + "."
	w.put(p+"mint", owner, rentExempt(82)+sol, w.mintData(w.at("us"), 1<<40))
	w.put(p+"newmint", owner, rentExempt(82), make([]byte, 82))
	w.put(p+"newaccount", owner, rentExempt(165), make([]byte, 165))
	w.put(p+"newmultisig", owner, rentExempt(355), make([]byte, 355))
	multisig := make([]byte, 355)
	multisig[0], multisig[1], multisig[2] = 1, 2, 1
	copy(multisig[3:], bytes.Join([][]byte{w.bytes("us"), w.bytes("bob")}, nil))
	w.put(p+"multisig", owner, rentExempt(355)+3*sol, multisig)
	accounts := []struct {
		name, owner string
		amount      uint64
		state       byte
		native      bool
	}{{"ours", "us", 1 << 30, 1, false}, {"bobs", "bob", 1 << 20, 1, false}, {"shared", p + "multisig", 1 << 25, 1, false},
		{"empty", "us", 0, 1, false}, {"frozen", "us", 7777, 2, false}, {"wrapped", "us", 2 * sol, 1, true}, {"unsynced", "us", 5, 1, true}}
	for _, a := range accounts {
		mint, lamports := w.at(p+"mint"), rentExempt(165)
		if a.native {
			mint, lamports = nativeMint, rentExempt(165)+2*sol
		}
		data := w.tokenData(mint, a.owner, a.amount, a.state)
		if a.native {
			copy(data[109:], slicesConcat([]byte{1, 0, 0, 0}, u64le(rentExempt(165))))
		}
		if a.name == "ours" && w.IntN(2) == 0 { // a delegate
			copy(data[72:], slicesConcat([]byte{1, 0, 0, 0}, w.bytes("bob")))
			copy(data[121:], u64le(1<<29))
		}
		w.put(p+a.name, owner, lamports, data)
	}
}

func (w *world) tokenData(mint sdk.PublicKey, owner string, amount uint64, state byte) []byte {
	return slicesConcat(mint[:], w.bytes(owner), u64le(amount), make([]byte, 36), []byte{state}, make([]byte, 12), u64le(0), make([]byte, 36))
}

func (w *world) mintData(authority sdk.PublicKey, supply uint64) []byte {
	option := slicesConcat([]byte{1, 0, 0, 0}, authority[:])
	return slicesConcat(option, u64le(supply), []byte{decimals, 1}, option)
}

// nonces creates nonce accounts of ours, of which one has the first version and one is not
// initialized.
func (w *world) nonces() {
	w.put("nonce", sdk.SystemProgramID, rentExempt(80)+sol, slicesConcat(u32le(1), u32le(1), w.bytes("us"), bytes.Repeat([]byte{7}, 32), u64le(5000)))
	w.put("legacynonce", sdk.SystemProgramID, rentExempt(80)+sol, slicesConcat(u32le(0), u32le(1), w.bytes("us"), bytes.Repeat([]byte{7}, 32), u64le(5000)))
	w.put("newnonce", sdk.SystemProgramID, rentExempt(80)+sol, make([]byte, 80))
}

const stakeSize = 200

// stakes creates stake accounts: uninitialized, initialized, delegated long ago, and
// deactivated since.
func (w *world) stakes() {
	owner := sdk.StakeProgramID
	staker, withdrawer := w.bytes("us"), w.bytes("us")
	if w.IntN(3) == 0 {
		staker = w.bytes("bob")
	}
	meta := slicesConcat(u64le(rentExempt(stakeSize)), staker, withdrawer, u64le(0), u64le(0), w.bytes("bob"))
	w.put("newstake", owner, rentExempt(stakeSize)+sol, make([]byte, stakeSize))
	w.put("newstake2", owner, rentExempt(stakeSize), make([]byte, stakeSize))
	for _, name := range []string{"stake", "stake2"} {
		w.put(name, owner, rentExempt(stakeSize)+10*sol, fit(slicesConcat(u32le(1), meta), stakeSize))
	}
	inactive := slicesConcat(u32le(2), meta, w.bytes("voter"), u64le(10*sol), u64le(0), u64le(2), u64le(0), u64le(0))
	w.put("idlestake", owner, rentExempt(stakeSize)+10*sol, fit(inactive, stakeSize))
	live := slicesConcat(u32le(2), meta, w.bytes("vote"), u64le(10*sol), u64le(1<<64-1), u64le(1<<64-1), u64le(0), u64le(0))
	for _, name := range []string{"livestake", "livestake2"} {
		w.put(name, owner, rentExempt(stakeSize)+11*sol, fit(live, stakeSize))
	}
	w.put("newvote", sdk.VoteProgramID, rentExempt(3762)+sol, make([]byte, 3762))
	w.put("vote", sdk.VoteProgramID, rentExempt(3762)+sol, w.voteData(w.bytes("us")))
}

// voteData returns a vote account of version 1.14.11, which litesvm rewrites as current:
// node, withdrawer, commission, no votes, no root, one authorized voter.
func (w *world) voteData(withdrawer []byte) []byte {
	state := slicesConcat(u32le(2), w.bytes("bob"), withdrawer, []byte{5}, u64le(0), []byte{0}, u64le(1), u64le(0), w.bytes("us"),
		make([]byte, 32*48), u64le(31), []byte{1}, u64le(0), u64le(0), u64le(0))
	return fit(state, 3762)
}

// tables creates lookup tables of ours: kind, slot of deactivation, slot and index of the
// last extension, authority, padding, addresses.
func (w *world) tables() {
	for name, deactivated := range map[string]uint64{"table": 1<<64 - 1, "deadtable": 1} {
		data := slicesConcat(u32le(1), u64le(deactivated), u64le(1), []byte{0, 1}, w.bytes("us"), make([]byte, 2), w.bytes("carol"))
		w.put(name, sdk.AddressLookupTableProgramID, rentExempt(len(data))+sol, data)
	}
}

// sharedTable creates a lookup table of all accounts so far, in random order. A builder uses
// it for accounts that do not sign and are not programs.
func (w *world) sharedTable() solanaTables {
	var keys sdk.PublicKeySlice
	for _, name := range slices.Sorted(maps.Keys(w.addresses)) {
		keys = append(keys, w.at(name))
	}
	w.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	data := slicesConcat(u32le(1), u64le(1<<64-1), u64le(1), []byte{0, 1}, w.bytes("us"), make([]byte, 2))
	for _, key := range keys {
		data = append(data, key[:]...)
	}
	w.put("sharedtable", sdk.AddressLookupTableProgramID, rentExempt(len(data)), data)
	return solanaTables{w.at("sharedtable"): keys}
}

// loaders creates buffers and a program of loader v3, without code, and what a proof left.
func (w *world) loaders() {
	loader := sdk.BPFLoaderUpgradeableProgramID
	w.put("buffer", loader, rentExempt(37+100), slicesConcat(u32le(1), []byte{1}, w.bytes("us"), make([]byte, 100)))
	w.put("newbuffer", loader, rentExempt(37+100), make([]byte, 137))
	w.put("program", loader, rentExempt(36), slicesConcat(u32le(2), w.bytes("programdata")))
	w.put("programdata", loader, rentExempt(45+100), slicesConcat(u32le(3), u64le(1), []byte{1}, w.bytes("us"), make([]byte, 100)))
	w.put("context", worldPrograms["zk"], rentExempt(65), slicesConcat(w.bytes("us"), []byte{4}, make([]byte, 32)))
}

func (w *world) bytes(name string) []byte { address := w.at(name); return address[:] }

func fit(data []byte, size int) []byte { return append(data, make([]byte, size-len(data))...) }

func slicesConcat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func u32le(value uint32) []byte { return binary.LittleEndian.AppendUint32(nil, value) }
func u64le(value uint64) []byte { return binary.LittleEndian.AppendUint64(nil, value) }
