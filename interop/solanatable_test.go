package interop

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// solanaNotExecuted has the decoded instructions that litesvm does not execute, with the
// reason. A star stands for all instructions of a program.
var solanaNotExecuted = []struct{ program, instructions, why string }{
	{"Address Lookup Table", "CreateLookupTable", "needs a slot of the ledger's past"},
	{"Compute Budget", "RequestUnitsDeprecated", "refused by the network"},
	{"Lighthouse", "*", "no npm package has the program; held against its source"},
	{"Loader v3", "DeployWithMaxDataLen Upgrade ExtendProgram ExtendProgramChecked", "needs the code of a program, which no npm package has"},
	{"Loader v3", "Migrate", "needs loader v4"},
	{"Loader v4", "*", "not active on any network"},
	{"Squads", "*", "no npm package has the program; held against its IDL"},
	{"Stake", "DeactivateDelinquent", "needs validators that voted for epochs, and one that did not"},
	{"Token-2022", "ConfigureConfidentialTransferAccount EmptyConfidentialTransferAccount ConfidentialWithdraw ConfidentialTransfer " +
		"ConfidentialTransferWithFee ConfigureConfidentialTransferAccountWithRegistry WithdrawWithheldTokensFromMintForConfidentialTransferFee " +
		"WithdrawWithheldTokensFromAccountsForConfidentialTransferFee RotateSupplyElGamalPubkey ConfidentialMint ConfidentialBurn " +
		"PermissionedConfidentialBurn", "needs a zero-knowledge proof"},
	{"Token-2022", "ApproveConfidentialTransferAccount ConfidentialDeposit ApplyConfidentialPendingBalance EnableConfidentialCredits " +
		"DisableConfidentialCredits EnableNonConfidentialCredits DisableNonConfidentialCredits HarvestWithheldTokensToMintForConfidentialTransferFee " +
		"UpdateDecryptableSupply ApplyConfidentialPendingBurn", "needs an account or a mint that a zero-knowledge proof has made"},
	{"Token Metadata", "*", "no npm package has the program; held against its source and what its client writes"},
	{"Token-2022", "CreateNativeMint", "makes the one account of its kind that a ledger has"},
	{"Vote", "Vote VoteSwitch UpdateVoteState UpdateVoteStateSwitch CompactUpdateVoteState CompactUpdateVoteStateSwitch TowerSync TowerSyncSwitch",
		"a validator's votes, over hashes of the ledger's past"},
	{"ZK ElGamal Proof", "VerifyProof", "needs a zero-knowledge proof"},
	{"Vote", "InitializeAccountV2 UpdateCommissionCollector UpdateCommissionBps DepositDelegatorRewards", "not active in litesvm's runtime"},
}

// solanaExecuted is the set of instructions that ran, as program and number.
type solanaExecuted map[string]bool

// solanaTablePrograms are the decoding table's names of programs.
var solanaTablePrograms = map[sdk.PublicKey]string{
	sdk.SystemProgramID: "System", sdk.TokenProgramID: "SPL Token", sdk.Token2022ProgramID: "Token-2022", sdk.StakeProgramID: "Stake",
	sdk.VoteProgramID: "Vote", sdk.SPLAssociatedTokenAccountProgramID: "Associated Token Account", sdk.ComputeBudget: "Compute Budget",
	worldPrograms["zk"]:               "ZK ElGamal Proof",
	sdk.BPFLoaderUpgradeableProgramID: "Loader v3", sdk.AddressLookupTableProgramID: "Address Lookup Table",
}

// add adds the instructions of a successful run, each under every number that its data may
// begin with. The table has one of them.
func (x solanaExecuted) add(instructions []*sdk.GenericInstruction) {
	for _, in := range instructions {
		program, data := solanaTablePrograms[in.ProgID], in.DataBytes
		if len(data) >= 4 {
			x[fmt.Sprintf("%s %d", program, binary.LittleEndian.Uint32(data))] = true
		}
		if len(data) >= 8 {
			x[fmt.Sprintf("%s %x", program, data[:8])] = true
		}
		if program != "Token-2022" && program != "SPL Token" && program != "Associated Token Account" && program != "Compute Budget" && program != "ZK ElGamal Proof" {
			continue
		}
		if len(data) >= 2 {
			x[fmt.Sprintf("%s %d.%d", program, data[0], data[1])] = true
		}
		x[fmt.Sprintf("%s %d", program, data[0])] = true
	}
}

// all checks that every instruction of the decoding table was executed or is in
// solanaNotExecuted.
func (x solanaExecuted) all(t *testing.T) {
	t.Helper()
	table := testenv.Read(t, filepath.Join(testenv.Root(), "chains", "solana", "testdata", "kinds.txt"))
	reasons := map[string]string{}
	for _, row := range solanaNotExecuted {
		for name := range strings.FieldsSeq(row.instructions) {
			reasons[row.program+" "+name] = row.why
		}
	}
	rows, left, used := 0, 0, map[string]bool{}
	for line := range strings.Lines(string(table)) {
		program, number, name := strings.TrimSpace(line[:25]), strings.TrimSpace(line[25:42]), strings.Fields(line[42:])[0]
		reason := cmp.Or(reasons[program+" "+name], reasons[program+" *"])
		used[program+" "+name], used[program+" *"] = true, true
		switch seen := x[program+" "+number]; {
		case !seen && reason == "":
			t.Errorf("%s %s (%s) is decoded but was not executed", program, name, number)
		case seen && reason != "":
			t.Errorf("%s %s was executed; remove it from solanaNotExecuted, which says: %s", program, name, reason)
		case !seen:
			left++
		}
		rows++
	}
	for name := range reasons {
		if !used[name] {
			t.Errorf("%s of solanaNotExecuted is not in the decoding table", name)
		}
	}
	t.Logf("%d instructions are decoded, %d of them not executed", rows, left)
}
