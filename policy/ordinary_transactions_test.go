package policy_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"
	solanago "github.com/gagliardetto/solana-go"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// ordinaryDraw draws transactions that people sign all day, for the keys of the tests.
type ordinaryDraw struct {
	t      *testing.T
	random *rand.Rand
	pub    keystore.PublicKey // key-1
	owner  solanago.PublicKey // key-2
	nonce  func() int         // of transactions on Ethereum
}

func newOrdinaryDraw(t *testing.T, f *enginetest.Fixture, random *rand.Rand) *ordinaryDraw {
	t.Helper()
	d := &ordinaryDraw{t: t, random: random, nonce: func() int { return random.IntN(100) }}
	for id, use := range map[string]func(keystore.PublicKey){
		"key-1": func(pub keystore.PublicKey) { d.pub = pub },
		"key-2": func(pub keystore.PublicKey) { d.owner = solanago.PublicKeyFromBytes(pub.Bytes()) },
	} {
		key, err := f.Signing.Find(t.Context(), enginetest.Organization, keystore.ByID(id))
		testenv.Must(t, err)
		use(key.PublicKey())
	}
	return d
}

// all returns one of each transaction.
func (d *ordinaryDraw) all() map[string]activity.SignTransactionIntent {
	drawn := map[string]activity.SignTransactionIntent{}
	for name, raw := range d.ethereum() {
		drawn["Ethereum: "+name] = activity.SignTransactionIntent{SignWith: "key-1", Type: activity.TransactionTypeEthereum, UnsignedTransaction: raw}
	}
	for name, raw := range d.solana() {
		drawn["Solana: "+name] = activity.SignTransactionIntent{SignWith: "key-2", Type: activity.TransactionTypeSolana, UnsignedTransaction: raw}
	}
	for name, raw := range d.tron() {
		drawn["Tron: "+name] = activity.SignTransactionIntent{SignWith: "key-1", Type: activity.TransactionTypeTron, UnsignedTransaction: raw}
	}
	for name, raw := range d.bitcoin() {
		drawn["Bitcoin: "+name] = activity.SignTransactionIntent{SignWith: "key-1", Type: activity.TransactionTypeBitcoin, UnsignedTransaction: raw}
	}
	return drawn
}

func (d *ordinaryDraw) amount() *big.Int { return big.NewInt(1 + d.random.Int64N(1e18)) }

// stranger is an address that is neither known nor a precompile.
func (d *ordinaryDraw) stranger() []byte {
	at := make([]byte, 32)
	for i := range at {
		at[i] = byte(1 + d.random.IntN(255))
	}
	return at
}

// ethereum draws payments, exact allowances, stakes to oneself, and vaults.
func (d *ordinaryDraw) ethereum() map[string]string {
	self, stranger := common.HexToAddress(enginetest.Address).Bytes(), d.stranger()[:20]
	word := func(content []byte) []byte { return common.LeftPadBytes(content, 32) }
	amount, none := d.amount(), new(big.Int)
	call := func(to string, value *big.Int, selector string, words ...[]byte) string {
		return d.typeTwo(common.HexToAddress(to), value, append(common.FromHex(selector), slices.Concat(words...)...))
	}
	const usdc, weth, entryPoint, vault = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
		"0x0000000071727De22E5E9d8BAf0edAc6f37da032", "0xa511d618cD0f9D7cAd791009D7C5E3b19c9568da"
	return map[string]string{
		"a payment":                    d.typeTwo(common.BytesToAddress(stranger), amount, nil),
		"a payment with a note":        d.typeTwo(common.BytesToAddress(stranger), amount, fmt.Appendf(nil, "invoice %d für März", d.random.IntN(1e6))),
		"a payment with builder codes": d.typeTwo(common.BytesToAddress(stranger), amount, common.FromHex("62617365617070070080218021802180218021802180218021")),
		"votes given to oneself":       call("0xc00e94Cb662C3520282E6f5717214004A7f26888", none, "5c19a95c", word(self)),
		"a payment to oneself":         d.typeTwo(common.BytesToAddress(self), amount, nil),
		"a token":                      call(usdc, none, "a9059cbb", word(stranger), word(amount.Bytes())),
		"an exact allowance":           call(usdc, none, "095ea7b3", word(stranger), word(amount.Bytes())),
		"an allowance taken back":      call(usdc, none, "095ea7b3", word(stranger), word(nil)),
		"an NFT of one's own":          call("0xBC4CA0EdA7647A8aB7C2061c2E118A18a936f13D", none, "42842e0e", word(self), word(stranger), word(amount.Bytes())),
		"ether wrapped":                call(weth, amount, "d0e30db0"),
		"ether unwrapped":              call(weth, none, "2e1a7d4d", word(amount.Bytes())),
		"a deposit at the EntryPoint":  call(entryPoint, amount, "b760faf9", word(self)),
		"that deposit taken back":      call(entryPoint, none, "205c2878", word(self), word(amount.Bytes())),
		"a deposit in a vault":         call(vault, none, "6e553f65", word(amount.Bytes()), word(self)),
		"a redemption of a vault":      call(vault, none, "ba087652", word(amount.Bytes()), word(self), word(self)),
		"a validator of one's own":     call("0x00000000219ab540356cBB839Cbe05303d7705Fa", new(big.Int).Mul(big.NewInt(32), big.NewInt(1e18)), "22895118", d.depositOf(self)...),
		"a nonce that is used up only": d.typeTwo(common.BytesToAddress(self), none, nil),
	}
}

// depositOf returns the arguments of a deposit for a validator whose stake comes back to an account.
func (d *ordinaryDraw) depositOf(account []byte) [][]byte {
	word := func(n int64) []byte { return common.LeftPadBytes(big.NewInt(n).Bytes(), 32) }
	credentials := slices.Concat([]byte{1}, make([]byte, 11), account)
	return [][]byte{word(0x80), word(0xe0), word(0x120), d.stranger(),
		word(48), common.RightPadBytes(append(d.stranger(), d.stranger()[:16]...), 64), word(32), credentials, word(96), d.stranger(), d.stranger(), d.stranger()}
}

// typeTwo returns a transaction of type 2 on Ethereum.
func (d *ordinaryDraw) typeTwo(to common.Address, value *big.Int, data []byte) string {
	d.t.Helper()
	list, err := rlp.EncodeToBytes([]any{uint64(1), uint64(d.nonce()), uint64(1e9), uint64(20e9), uint64(300000), to, value, data, []any{}})
	testenv.Must(d.t, err)
	return hex.EncodeToString(append([]byte{2}, list...))
}

// Programs and sysvars of Solana.
var (
	tokenProgram    = solanago.TokenProgramID
	stakeProgram    = solanago.MustPublicKeyFromBase58("Stake11111111111111111111111111111111111111")
	lighthouse      = solanago.MustPublicKeyFromBase58("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")
	solanaUSDC      = solanago.MustPublicKeyFromBase58("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	stakeConfig     = solanago.MustPublicKeyFromBase58("StakeConfig11111111111111111111111111111111")
	clockSysvar     = solanago.SysVarClockPubkey
	stakeHistory    = solanago.SysVarStakeHistoryPubkey
	associatedToken = solanago.SPLAssociatedTokenAccountProgramID
)

// little returns numbers in little-endian order: an instruction's of 32 bits, and others of 64.
func little(instruction uint32, numbers ...uint64) []byte {
	data := binary.LittleEndian.AppendUint32(nil, instruction)
	for _, number := range numbers {
		data = binary.LittleEndian.AppendUint64(data, number)
	}
	return data
}

// metas returns accounts: w stands for a writable one, s for one that signs, b for both.
func metas(roles string, accounts ...solanago.PublicKey) (list solanago.AccountMetaSlice) {
	for i, account := range accounts {
		list = append(list, solanago.NewAccountMeta(account, strings.ContainsAny(roles[i:i+1], "wb"), strings.ContainsAny(roles[i:i+1], "sb")))
	}
	return list
}

// solana draws payments, stakes to oneself, and payments of others that the key sponsors, with the
// guards that wallets add.
func (d *ordinaryDraw) solana() map[string]string {
	stranger, user := solanago.PublicKeyFromBytes(d.stranger()), solanago.PublicKeyFromBytes(d.stranger())
	amount := uint64(1 + d.random.Int64N(1e12))
	seed := fmt.Sprintf("stake:%d", d.random.IntN(1000))
	stake, err := solanago.CreateWithSeed(d.owner, seed, stakeProgram)
	testenv.Must(d.t, err)
	guard := func(account solanago.PublicKey) solanago.Instruction {
		return solanago.NewInstruction(lighthouse, metas("-", account), append([]byte{5, 0, 0}, little(uint32(amount), 4)[:9]...))
	}
	pays := func(from, to solanago.PublicKey, amount uint64) solanago.Instruction {
		return solanago.NewInstruction(solanago.SystemProgramID, metas("bw", from, to), little(2, amount))
	}
	usdc := d.sends(d.owner, stranger, amount)
	sponsored := append([]solanago.Instruction{guard(d.owner)}, d.sends(user, stranger, amount)[1:]...)
	return map[string]string{
		"a payment":         d.transaction(pays(d.owner, stranger, amount)),
		"a token":           d.transaction(usdc...),
		"a guarded payment": d.transaction(guard(d.owner), pays(d.owner, stranger, amount), guard(d.owner)),
		"a sponsored one":   d.transaction(append(sponsored, guard(d.owner), guard(user))...),
		"a stake": d.transaction(
			solanago.NewInstruction(solanago.SystemProgramID, metas("bw", d.owner, stake),
				slices.Concat(little(3), d.owner[:], little(uint32(len(seed)), 0)[:8], []byte(seed), little(0, amount, 200)[4:], stakeProgram[:])),
			solanago.NewInstruction(stakeProgram, metas("w-", stake, solanago.SysVarRentPubkey), slices.Concat(little(0), d.owner[:], d.owner[:], make([]byte, 48))),
			solanago.NewInstruction(stakeProgram, metas("w----s", stake, stranger, clockSysvar, stakeHistory, stakeConfig, d.owner), little(2))),
		"a stake that ends":     d.transaction(solanago.NewInstruction(stakeProgram, metas("w-s", stake, clockSysvar, d.owner), little(5))),
		"a stake that is taken": d.transaction(solanago.NewInstruction(stakeProgram, metas("ww--s", stake, d.owner, clockSysvar, stakeHistory, d.owner), little(4, amount))),
	}
}

// sends returns the instructions that send USDC: the recipient's account is created if it is
// missing.
func (d *ordinaryDraw) sends(from, to solanago.PublicKey, amount uint64) []solanago.Instruction {
	d.t.Helper()
	source, _, err := solanago.FindAssociatedTokenAddress(from, solanaUSDC)
	testenv.Must(d.t, err)
	target, _, err := solanago.FindAssociatedTokenAddress(to, solanaUSDC)
	testenv.Must(d.t, err)
	return []solanago.Instruction{
		solanago.NewInstruction(associatedToken, metas("bw----", d.owner, target, to, solanaUSDC, solanago.SystemProgramID, tokenProgram), []byte{1}),
		solanago.NewInstruction(tokenProgram, metas("w-ws", source, solanaUSDC, target, from), slices.Concat([]byte{12}, little(0, amount)[4:], []byte{6})),
	}
}

// transaction returns an unsigned transaction whose fee the key pays.
func (d *ordinaryDraw) transaction(instructions ...solanago.Instruction) string {
	d.t.Helper()
	tx, err := solanago.NewTransaction(instructions, solanago.HashFromBytes(d.stranger()), solanago.TransactionPayer(d.owner))
	testenv.Must(d.t, err)
	tx.Signatures = make([]solanago.Signature, tx.Message.Header.NumRequiredSignatures)
	raw, err := tx.MarshalBinary()
	testenv.Must(d.t, err)
	return hex.EncodeToString(raw)
}

// tron draws payments, and stakes of one's own. See protocol/core/contract in java-tron.
func (d *ordinaryDraw) tron() map[string]string {
	self := append([]byte{0x41}, common.HexToAddress(enginetest.Address).Bytes()...)
	stranger := append([]byte{0x41}, d.stranger()[:20]...)
	usdt := common.FromHex("41a614f803b6fd780986a42c78ec9c7f77e6ded13c")
	amount := uint64(1 + d.random.Int64N(1e12))
	owner := func(rest ...[]byte) []byte { return append(field(1, self), slices.Concat(rest...)...) }
	transfer := slices.Concat(common.FromHex("a9059cbb"), common.LeftPadBytes(stranger[1:], 32), common.LeftPadBytes(big.NewInt(int64(amount)).Bytes(), 32))
	return map[string]string{
		"a payment":             d.contract(1, "TransferContract", owner(field(2, stranger), number(3, amount))),
		"a token":               d.contract(31, "TriggerSmartContract", owner(field(2, usdt), field(4, transfer))),
		"a stake":               d.contract(54, "FreezeBalanceV2Contract", owner(number(2, amount), number(3, 1))),
		"a stake that ends":     d.contract(55, "UnfreezeBalanceV2Contract", owner(number(2, amount), number(3, 1))),
		"a stake that is taken": d.contract(56, "WithdrawExpireUnfreezeContract", owner()),
		"energy lent":           d.contract(57, "DelegateResourceContract", owner(number(2, 1), number(3, amount), field(4, stranger))),
	}
}

func field(of int, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, protowire.Number(of), protowire.BytesType), content)
}

func number(of int, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, protowire.Number(of), protowire.VarintType), value)
}

// contract returns raw_data of a contract of Tron.
func (d *ordinaryDraw) contract(kind uint64, name string, message []byte) string {
	contract := slices.Concat(number(1, kind), field(2, slices.Concat(field(1, []byte("type.googleapis.com/protocol."+name)), field(2, message))))
	raw := slices.Concat(field(1, d.stranger()[:2]), field(4, d.stranger()[:8]), number(8, 1_795_180_000_000), field(11, contract), number(14, 1_795_179_000_000))
	if kind == 31 {
		raw = append(raw, number(18, 30_000_000)...)
	}
	return hex.EncodeToString(raw)
}

// bitcoin draws payments with change, from one input or several, of each type of address for ECDSA,
// which is all that the key of the tests can make.
func (d *ordinaryDraw) bitcoin() map[string]string {
	payee := bitcointest.Spend{Script: append([]byte{0, 20}, d.stranger()[:20]...)}
	drawn := map[string]string{}
	for name, own := range map[string]bitcointest.Spend{"P2WPKH": bitcointest.P2WPKH(d.pub), "P2PKH": bitcointest.P2PKH(d.pub),
		"nested P2WPKH": bitcointest.Nested(bitcointest.P2WPKH(d.pub))} {
		p := bitcointest.PSBT{Version: uint32(2 * d.random.IntN(2))}
		left := uint64(0)
		for i := range 1 + d.random.IntN(4) {
			amount := uint64(1_000_000 + d.random.IntN(100_000_000))
			left += amount
			p.Inputs = append(p.Inputs, own.Input(amount, uint32(i)))
		}
		fee := uint64(1_000 + 500*len(p.Inputs))
		paid := 1_000 + d.random.Uint64N(left/2)
		p.Outputs = []bitcointest.Output{payee.Output(paid), own.Output(left - paid - fee)}
		if d.random.IntN(2) == 0 {
			slices.Reverse(p.Outputs)
		}
		drawn["a payment from "+name] = hex.EncodeToString(p.Encode())
		p.Outputs = []bitcointest.Output{own.Output(left - fee)}
		drawn["inputs joined, of "+name] = hex.EncodeToString(p.Encode())
	}
	return drawn
}
