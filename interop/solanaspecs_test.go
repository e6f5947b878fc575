package interop

import (
	"encoding/hex"
	"fmt"
	"strings"

	sdk "github.com/gagliardetto/solana-go"
)

// solanaSpecs are the instructions that litesvm executes: program, name, data and
// accounts. Data consists of words: the number of the instruction, random values, names of
// addresses. Accounts are names in the world; T. is the prefix of a token program's. A !
// marks a signer, | separates alternatives, and ? marks an optional account. Instructions
// that must run before come first, ended by a semicolon.
const solanaSpecs = `
system CreateAccount: u32=0 amount u64=100 @owner: us! new!
system Assign: u32=1 @owner: bob!|new!
system Transfer: u32=2 amount: us!|bob! carol|bob|new|us
system CreateAccountWithSeed: u32=3 @us $seed amount u64=50 @owner: us! seeded ?us!
system AdvanceNonceAccount: u32=4: nonce blockhashes us!
system WithdrawNonceAccount: u32=5 amount: nonce carol|bob blockhashes rent us! ?bob!
system InitializeNonceAccount: u32=6 @bob: newnonce blockhashes rent
system AuthorizeNonceAccount: u32=7 @bob: nonce us!
system Allocate: u32=8 u64=100: new!|bob!
system AllocateWithSeed: u32=9 @us $seed u64=50 @owner: seeded us!
system AssignWithSeed: u32=10 @us $seed @owner: seeded us!
system TransferWithSeed: u32=11 amount $seed @system: seededwallet us! carol
system CreateAccountAllowPrefund: u32=13 amount u64=100 @owner: bob!|new! us!
T InitializeMint: u8=0 u8=6 @us opt@bob: T.newmint rent
T InitializeAccount: u8=1: T.newaccount T.mint|nativemint carol rent
T InitializeMultisig: u8=2 u8=1: T.newmultisig rent us bob ?carol
T Transfer: u8=3 amount: T.ours T.bobs|T.empty|T.ours us!|bob!
T Transfer: u8=3 amount: T.shared T.bobs T.multisig us! bob!
T Approve: u8=4 amount: T.ours|T.empty carol|bob us!
T Revoke: u8=5: T.ours|T.wrapped us!
T SetAuthority: u8=6 choice4 opt@bob: T.ours|T.mint|T.wrapped us!
T MintTo: u8=7 amount: T.mint T.ours|T.bobs us!
T Burn: u8=8 amount: T.ours T.mint us!|bob!
T CloseAccount: u8=9: T.empty|T.wrapped carol|us us!
T FreezeAccount: u8=10: T.ours|T.bobs T.mint us!
T ThawAccount: u8=11: T.frozen T.mint us!
T TransferChecked: u8=12 amount u8=6: T.ours T.mint T.bobs|T.empty us!|bob!
T ApproveChecked: u8=13 amount u8=6: T.ours T.mint carol us!
T MintToChecked: u8=14 amount u8=6: T.mint T.ours|T.bobs us!
T BurnChecked: u8=15 amount u8=6: T.ours T.mint us!
T InitializeAccount2: u8=16 @carol: T.newaccount T.mint rent
T SyncNative: u8=17: T.unsynced|T.wrapped
T InitializeAccount3: u8=18 @carol: T.newaccount T.mint
T InitializeMultisig2: u8=19 u8=1: T.newmultisig us bob
T InitializeMint2: u8=20 u8=6 @us opt@bob: T.newmint
T GetAccountDataSize: u8=21: T.mint
token InitializeImmutableOwner: u8=22: token.newaccount
T22 InitializeImmutableOwner: u8=22: T.sized:170
T AmountToUiAmount: u8=23 amount: T.mint
T WithdrawExcessLamports: u8=38: T.multisig carol T.multisig us! bob!
T UnwrapLamports: u8=45 optamount: T.wrapped carol us!
T Batch: u8=255 u8=3 u8=9 u8=3 amount u8=2 u8=1 u8=5: T.ours T.bobs us! T.ours us! ?carol
ata Create: u8=0: us! derived carol T.mint system T ?rent
ata CreateIdempotent: u8=1: us! derived carol T.mint system T
stake Initialize: u32=0 @bob @carol u64=0 u64=0 @us: newstake ?rent
stake Authorize: u32=1 @carol u32=0|u32=1: stake|idlestake clock us! ?bob!
stake Authorize: u32=1 @carol u32=0|u32=1: stake us! ?bob!
stake DelegateStake: u32=2: stake|idlestake vote clock history config us!
stake DelegateStake: u32=2: stake vote us!
stake Split: u32=3 amount: stake|idlestake newstake|newstake2 us! ?bob!
stake Withdraw: u32=4 amount: stake|idlestake carol clock history us!
stake Withdraw: u32=4 amount: stake|idlestake carol us!
stake Deactivate: u32=5: livestake clock us!
stake Deactivate: u32=5: livestake us!
stake SetLockup: u32=6 optu64=9 optu64=9 opt@carol: stake us!
stake Merge: u32=7: stake stake2 clock history us!
stake Merge: u32=7: stake stake2|idlestake us!
stake AuthorizeWithSeed: u32=8 @carol u32=1 $seed @system: seedstake us! ?clock
stake InitializeChecked: u32=9: newstake rent bob us!
stake InitializeChecked: u32=9: newstake us bob!
stake AuthorizeChecked: u32=10 u32=0|u32=1: stake clock us! bob!
stake AuthorizeChecked: u32=10 u32=0|u32=1: stake us! bob!
stake AuthorizeCheckedWithSeed: u32=11 u32=1 $seed @system: seedstake us! ?clock bob!
stake SetLockupChecked: u32=12 optu64=9 optu64=9: stake us! ?bob!
stake GetMinimumDelegation: u32=13: ?stake
stake MoveStake: u32=16 amount: livestake livestake2 us!
stake MoveLamports: u32=17 amount: livestake livestake2|stake us!
vote InitializeAccount: u32=0 @bob @us @carol u8=5: newvote rent clock bob!
vote Authorize: u32=1 @carol u32=1: vote clock us!
vote Withdraw: u32=3 amount: vote carol us!
vote UpdateValidatorIdentity: u32=4: vote spare! us!
vote UpdateCommission: u32=5 u8=3: vote us!
vote AuthorizeChecked: u32=7 u32=1: vote clock us! bob!
loader InitializeBuffer: u32=0: newbuffer us
loader Write: u32=1 u32=0 u64=4 u32=77: buffer us!
loader SetAuthority: u32=4: buffer us! bob
loader Close: u32=5: buffer carol us!
loader CloseProgram: u32=5: programdata carol us! program
T22 CloseMint: u8=25 u8=1 @us: T.sized:202 ; u8=20 u8=6 @us u8=0: T.sized:202 ; u8=9: T.sized:202 carol us!
zk CloseContextState: u8=0: context carol us!
loader SetAuthorityChecked: u32=7: buffer us! bob!
memo Memo: u8=104 u8=105: us!
budget SetComputeUnitPrice: u8=3 u64=1000:
T22 InitializeMintCloseAuthority: u8=25 opt@bob: T.sized:202
T22 InitializeTransferFeeConfig: u8=26 u8=0 opt@us opt@us u8=5 u8=0 u64=5000: T.sized:278
T22 InitializeDefaultAccountState: u8=28 u8=0 u8=2: T.sized:171
T22 Reallocate: u8=29 u8=8 u8=0: T.ours us! system us!
T22 InitializeNonTransferableMint: u8=32: T.sized:170
T22 InitializeInterestBearingMint: u8=33 u8=0 @us u8=5 u8=0: T.sized:222
T22 InitializePermanentDelegate: u8=35 @carol: T.sized:202
T22 InitializeTransferHook: u8=36 u8=0 @us @carol: T.sized:234
T22 InitializeMetadataPointer: u8=39 u8=0 @us @carol: T.sized:234
T22 InitializeGroupPointer: u8=40 u8=0 @us @carol: T.sized:234
T22 InitializeGroupMemberPointer: u8=41 u8=0 @us @carol: T.sized:234
T22 InitializeScaledUiAmount: u8=43 u8=0 @us u64=4607182418800017408: T.sized:226
T22 InitializePausable: u8=44 u8=0 @us: T.sized:203
T22 InitializeConfidentialTransferMint: u8=27 u8=0 @us u8=1 @carol: T.sized:235
budget RequestHeapFrame: u8=1 u32=65536:
budget SetComputeUnitLimit: u8=2 u32=900000:
budget SetLoadedAccountsDataSizeLimit: u8=4 u32=60000000:
system UpgradeNonceAccount: u32=12: legacynonce
T UiAmountToAmount: u8=24 u8=53: T.mint
ata RecoverNested: u8=2: nested T.mint outer outer T.mint us! T
vote AuthorizeWithSeed: u32=10 u32=1 @system $seed @carol: seedvote clock us!
vote AuthorizeCheckedWithSeed: u32=11 u32=1 @system $seed: seedvote clock us! bob!
T22 SetTransferFee: u8=26 u8=0 opt@us opt@us u16=9 u64=5000: T.sized:278 ; u8=20 u8=6 @us u8=0: T.sized:278 ; u8=26 u8=5 u16=7 amount: T.sized:278 us!
T22 WithdrawWithheldTokensFromMint: u8=26 u8=0 opt@us opt@us u16=9 u64=5000: T.sized:278 ; u8=20 u8=6 @us u8=0: T.sized:278 ; u8=18 @carol: T.holder:182 T.sized:278 ; u8=26 u8=2: T.sized:278 T.holder:182 us!
T22 WithdrawWithheldTokensFromAccounts: FEES ; PAID ; u8=26 u8=3 u8=1: T.sized:278 T.second:182 us! T.holder:182
T22 TransferCheckedWithFee: FEES ; PAID
T22 HarvestWithheldTokensToMint: FEES ; PAID ; u8=26 u8=4: T.sized:278 T.holder:182
T22 UpdateConfidentialTransferMint: u8=27 u8=0 @us u8=1 @carol: T.sized:235 ; u8=20 u8=6 @us u8=0: T.sized:235 ; u8=27 u8=1 u8=0 @bob: T.sized:235 us!
T22 UpdateDefaultAccountState: u8=28 u8=0 u8=2: T.sized:171 ; u8=20 u8=6 @us u8=1 @us: T.sized:171 ; u8=28 u8=1 u8=1|u8=2: T.sized:171 us!
T22 EnableRequiredMemoTransfers: u8=29 u8=8 u8=0: T.ours us! system us! ; u8=30 u8=0: T.ours us!
T22 DisableRequiredMemoTransfers: u8=29 u8=8 u8=0: T.ours us! system us! ; u8=30 u8=0: T.ours us! ; u8=30 u8=1: T.ours us!
T22 UpdateInterestRate: u8=33 u8=0 @us u16=5: T.sized:222 ; u8=20 u8=6 @us u8=0: T.sized:222 ; u8=33 u8=1 u16=9: T.sized:222 us!
T22 EnableCpiGuard: u8=29 u8=11 u8=0: T.ours us! system us! ; u8=34 u8=0: T.ours us!
T22 DisableCpiGuard: u8=29 u8=11 u8=0: T.ours us! system us! ; u8=34 u8=0: T.ours us! ; u8=34 u8=1: T.ours us!
T22 UpdateTransferHook: u8=36 u8=0 @us @carol: T.sized:234 ; u8=20 u8=6 @us u8=0: T.sized:234 ; u8=36 u8=1 @bob: T.sized:234 us!
T22 UpdateMetadataPointer: u8=39 u8=0 @us @carol: T.sized:234 ; u8=20 u8=6 @us u8=0: T.sized:234 ; u8=39 u8=1 @bob: T.sized:234 us!
T22 UpdateGroupPointer: u8=40 u8=0 @us @carol: T.sized:234 ; u8=20 u8=6 @us u8=0: T.sized:234 ; u8=40 u8=1 @bob: T.sized:234 us!
T22 UpdateGroupMemberPointer: u8=41 u8=0 @us @carol: T.sized:234 ; u8=20 u8=6 @us u8=0: T.sized:234 ; u8=41 u8=1 @bob: T.sized:234 us!
T22 UpdateMultiplier: u8=43 u8=0 @us u64=4607182418800017408: T.sized:226 ; u8=20 u8=6 @us u8=0: T.sized:226 ; u8=43 u8=1 u64=4611686018427387904 u64=0: T.sized:226 us!
T22 Pause: u8=44 u8=0 @us: T.sized:203 ; u8=20 u8=6 @us u8=0: T.sized:203 ; u8=44 u8=1: T.sized:203 us!
T22 Resume: u8=44 u8=0 @us: T.sized:203 ; u8=20 u8=6 @us u8=0: T.sized:203 ; u8=44 u8=1: T.sized:203 us! ; u8=44 u8=2: T.sized:203 us!
T22 InitializePermissionedBurn: u8=46 u8=0 @us: T.sized:202
T22 PermissionedBurn: u8=46 u8=0 @bob: T.sized:202 ; u8=20 u8=6 @us u8=0: T.sized:202 ; u8=18 @us: T.holder:170 T.sized:202 ; u8=7 u64=1000000: T.sized:202 T.holder:170 us! ; u8=46 u8=1 u64=70000: T.holder:170 T.sized:202 bob! us!
T22 PermissionedBurnChecked: u8=46 u8=0 @bob: T.sized:202 ; u8=20 u8=6 @us u8=0: T.sized:202 ; u8=18 @us: T.holder:170 T.sized:202 ; u8=7 u64=1000000: T.sized:202 T.holder:170 us! ; u8=46 u8=2 u64=70000 u8=6: T.holder:170 T.sized:202 bob! us!
T22 InitializeConfidentialTransferFee: u8=37 u8=0 @us @carol: T.sized:299
T22 EnableHarvestToMint: HIDDEN ; u8=37 u8=4: T.sized:480 us!
T22 DisableHarvestToMint: HIDDEN ; u8=37 u8=5: T.sized:480 us!
T22 InitializeConfidentialMintBurn: u8=42 u8=0 @us @us u32=9: T.sized:366
lut FreezeLookupTable: u32=1: table us!
lut ExtendLookupTable: u32=2 u64=1 @bob: table us! ?us! ?system
lut DeactivateLookupTable: u32=3: table us!
lut CloseLookupTable: u32=4: deadtable us! carol
T22 InitializeTokenMetadata: META
T22 UpdateTokenMetadataField: META ; x=dde9312db5cadcc8 u8=0|u8=1|u8=2 text: T.sized:234 us!
T22 UpdateTokenMetadataField: META ; x=dde9312db5cadcc8 u8=3 text text: T.sized:234 us!
T22 RemoveTokenMetadataKey: META ; x=ea122038598d25b5 u8=1 text: T.sized:234 us!
T22 UpdateTokenMetadataUpdateAuthority: META ; x=d7e4a6e45464567b @bob: T.sized:234 us!
T22 EmitTokenMetadata: META ; x=faa6b4fa0d0cb846 u8=0 u8=0: T.sized:234
T22 InitializeTokenGroup: GROUP
T22 UpdateTokenGroupMaxSize: GROUP ; x=6c25ab8ff81e126e amount: T.sized:234 us!
T22 UpdateTokenGroupUpdateAuthority: GROUP ; x=a1695801edddd8cb @bob: T.sized:234 us!
T22 InitializeTokenGroupMember: GROUP ; u8=41 u8=0 @us @T.second: T.second:234 ; u8=20 u8=6 @us u8=0: T.second:234 ; x=9820deb0dfed7486: T.second:234 T.second:234 us! T.sized:234 us!
`

// specMacros are the beginnings of specs that need a mint with an extension.
var specMacros = strings.NewReplacer(
	"FEES", "u8=26 u8=0 opt@us opt@us u16=9 u64=5000: T.sized:278 ; u8=20 u8=6 @us u8=0: T.sized:278 ; u8=18 @carol: T.holder:182 T.sized:278 ; u8=18 @us: T.second:182 T.sized:278 ; u8=7 u64=1000000: T.sized:278 T.second:182 us!",
	"PAID", "u8=26 u8=1 u64=70000 u8=6 u64=63: T.second:182 T.sized:278 T.holder:182 us!",
	"HIDDEN", "u8=26 u8=0 opt@us opt@us u16=9 u64=5000: T.sized:480 ; u8=27 u8=0 @us u8=1 @carol: T.sized:480 ; u8=37 u8=0 @us @carol: T.sized:480 ; u8=20 u8=6 @us u8=0: T.sized:480",
	"META", "u8=39 u8=0 @us @T.sized: T.sized:234 ; u8=20 u8=6 @us u8=0: T.sized:234 ; x=d2e11ea258b84d8d text text text: T.sized:234 us T.sized:234 us!",
	"GROUP", "u8=40 u8=0 @us @T.sized: T.sized:234 ; u8=20 u8=6 @us u8=0: T.sized:234 ; x=79716c2736330004 @us u64=70: T.sized:234 T.sized:234 us!",
)

// solanaSpec is one line of solanaSpecs for one token program.
type solanaSpec struct {
	program, name string
	steps         []solanaStep
}

// solanaStep is an instruction of a spec.
type solanaStep struct{ data, accounts []string }

func (s solanaSpec) String() string { return s.program + " " + s.name }

func parseSolanaSpecs() (specs []solanaSpec) {
	for line := range strings.Lines(strings.TrimSpace(solanaSpecs)) {
		head, rest, found := strings.Cut(specMacros.Replace(strings.TrimSpace(line)), ": ")
		if !found {
			panic(line)
		}
		words := strings.Fields(head)
		programs := []string{words[0]}
		if strings.Contains(" "+line, " T ") || strings.Contains(line, "T.") {
			programs = []string{"token", "token2022"}
		}
		if words[0] == "T22" {
			programs = []string{"token2022"}
		}
		for _, program := range programs {
			spec := solanaSpec{program: program, name: words[1]}
			for step := range strings.SplitSeq(rest, " ; ") {
				spec.steps = append(spec.steps, parseSolanaStep(program, step))
			}
			if words[0] == "ata" {
				spec.program, spec.name = "ata", words[1]+" "+program
			}
			specs = append(specs, spec)
		}
	}
	return specs
}

func parseSolanaStep(program, text string) (step solanaStep) {
	data, accounts, found := strings.Cut(text+" ", ": ")
	if !found {
		panic(text)
	}
	for word := range strings.FieldsSeq(data) {
		step.data = append(step.data, strings.ReplaceAll(word, "T.", program+"."))
	}
	for account := range strings.FieldsSeq(accounts) {
		account = strings.ReplaceAll(account, "T.", program+".")
		if account == "T" {
			account = program
		}
		step.accounts = append(step.accounts, account)
	}
	return step
}

var worldPrograms = map[string]sdk.PublicKey{
	"system": sdk.SystemProgramID, "token": sdk.TokenProgramID, "token2022": sdk.Token2022ProgramID, "stake": sdk.StakeProgramID,
	"vote": sdk.VoteProgramID, "ata": sdk.SPLAssociatedTokenAccountProgramID, "memo": sdk.MemoProgramID, "budget": sdk.ComputeBudget,
	"zk":     sdk.MustPublicKeyFromBase58("ZkE1Gama1Proof11111111111111111111111111111"),
	"loader": sdk.BPFLoaderUpgradeableProgramID, "lut": sdk.AddressLookupTableProgramID,
}

// instruction generates an instruction of the spec.
func (w *world) instruction(s solanaSpec, step solanaStep) *sdk.GenericInstruction {
	var metas sdk.AccountMetaSlice
	for _, word := range step.accounts {
		word, optional := strings.CutPrefix(word, "?")
		if optional && w.IntN(2) == 0 {
			continue
		}
		choices := strings.Split(word, "|")
		name, signs := strings.CutSuffix(choices[w.IntN(len(choices))], "!")
		metas = append(metas, sdk.NewAccountMeta(w.account(s, name), !isSysvar(name), signs))
	}
	var data []byte
	for _, word := range step.data {
		choices := strings.Split(word, "|")
		data = append(data, w.word(choices[w.IntN(len(choices))])...)
	}
	return sdk.NewInstruction(worldPrograms[s.program], metas, data)
}

func isSysvar(name string) bool {
	switch name {
	case "clock", "rent", "history", "config", "slothashes", "blockhashes", "system", "token", "token2022", "nativemint":
		return true
	}
	return false
}

// account returns the address of a name. It creates derived accounts, and mints of a size,
// on first use.
func (w *world) account(s solanaSpec, name string) sdk.PublicKey {
	base, size, sized := strings.Cut(name, ":")
	switch {
	case sized:
		var bytes int
		fmt.Sscan(size, &bytes)
		if _, made := w.addresses[base]; !made {
			w.put(base, sdk.Token2022ProgramID, rentExempt(bytes)+sol, make([]byte, bytes))
		}
		return w.at(base)
	case name == "derived":
		_, program, _ := strings.Cut(s.name, " ")
		return w.associated(program, w.at("carol"))
	case name == "outer", name == "nested":
		_, program, _ := strings.Cut(s.name, " ")
		return w.nested(program, name)
	case strings.HasPrefix(name, "seed"):
		return w.seeded(name)
	}
	return w.at(name)
}

// associated returns the address of a wallet's token account.
func (w *world) associated(program string, wallet sdk.PublicKey) sdk.PublicKey {
	mint, owner := w.at(program+".mint"), w.at(program)
	address, _, err := sdk.FindProgramAddress([][]byte{wallet[:], owner[:], mint[:]}, sdk.SPLAssociatedTokenAccountProgramID)
	if err != nil {
		panic(err)
	}
	return address
}

// nested creates our token account, and one that belongs to it by mistake.
func (w *world) nested(program, name string) sdk.PublicKey {
	if _, made := w.addresses["outer"]; !made {
		outer := w.associated(program, w.at("us"))
		w.addresses["outer"], w.addresses["nested"] = outer, w.associated(program, outer)
		for _, account := range []struct{ name, owner string }{{"outer", "us"}, {"nested", "outer"}} {
			w.put(account.name, w.at(program), rentExempt(165), w.tokenData(w.at(program+".mint"), account.owner, 777, 1))
		}
	}
	return w.at(name)
}

const worldSeed = "seed of ours"

// seeded returns an address that is derived from ours and a seed.
func (w *world) seeded(name string) sdk.PublicKey {
	owner := w.at("owner")
	if name != "seeded" {
		owner = sdk.SystemProgramID
	}
	address, err := sdk.CreateWithSeed(w.at("us"), worldSeed, owner)
	if err != nil {
		panic(err)
	}
	if _, made := w.addresses[name]; made {
		return w.addresses[name]
	}
	w.addresses[name] = address
	switch name {
	case "seededwallet":
		w.put(name, sdk.SystemProgramID, 3*sol, nil)
	case "seedvote":
		delete(w.addresses, name)
		w.put(name, sdk.VoteProgramID, rentExempt(3762)+sol, w.voteData(address[:]))
	case "seedstake":
		delete(w.addresses, name)
		meta := slicesConcat(u64le(rentExempt(stakeSize)), address[:], address[:], u64le(0), u64le(0), w.bytes("bob"))
		w.put(name, sdk.StakeProgramID, rentExempt(stakeSize)+sol, fit(slicesConcat(u32le(1), meta), stakeSize))
	}
	return w.at(name)
}

// word returns the bytes of one word of a spec's data.
func (w *world) word(word string) []byte {
	if inner, ok := strings.CutPrefix(word, "opt"); ok {
		if w.IntN(2) == 0 {
			return []byte{0}
		}
		return append([]byte{1}, w.word(inner)...)
	}
	if name, ok := strings.CutPrefix(word, "@"); ok {
		return w.bytes(name)
	}
	var value uint64
	var size int
	switch {
	case word == "amount":
		return u64le(w.amount())
	case word == "$seed":
		return append(u64le(uint64(len(worldSeed))), worldSeed...)
	case word == "text":
		return append(u32le(uint32(5)), fmt.Sprintf("%05d", w.IntN(100_000))...)
	case strings.HasPrefix(word, "x="):
		raw, err := hex.DecodeString(word[2:])
		if err != nil {
			panic(err)
		}
		return raw
	case strings.HasPrefix(word, "choice"):
		fmt.Sscanf(word, "choice%d", &size)
		return []byte{byte(w.IntN(size))}
	}
	if n, _ := fmt.Sscanf(word, "u%d=%d", &size, &value); n != 2 {
		panic("no such word: " + word)
	}
	return u64le(value)[:size/8]
}

// amount generates small, likely and too large amounts.
func (w *world) amount() uint64 {
	switch w.IntN(6) {
	case 0:
		return uint64(w.IntN(3))
	case 1:
		return 2 * sol
	case 2:
		return 10 * sol
	case 3:
		return rentExempt(stakeSize) + 10*sol
	}
	return w.Uint64N(sol) + 1
}
