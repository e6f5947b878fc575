package descriptors

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Functions that approve or execute content that is stored elsewhere, and named by a hash
// or an id. Their arguments can all be read and say nothing of what happens, so that no
// descriptor makes a call of them sighted. The selectors are the same at every address.
var byReference = keysOf(func(signature string) [4]byte { return [4]byte(crypto.Keccak256([]byte(signature))) },
	// Safe: an owner's approval of a transaction.
	"approveHash(bytes32)",
	// Gnosis' MultiSigWallet and its relatives, on Ethereum and Tron.
	"confirmTransaction(uint256)", "executeTransaction(uint256)", "confirmTransactions(uint256[])",
	"executeTransactions(uint256[])",
	"approveTransaction(uint256)", "approveTransaction(bytes32)", "confirmTransaction(bytes32)",
	"executeTransaction(bytes32)", "signTransaction(uint256)",
	// Wallets by Gavin Wood, as the Ethereum Foundation's: confirm(bytes32).
	"confirm(bytes32)", "confirm(uint256)", "confirmAndCheck(bytes32)", "approve(bytes32)", "approve(uint256)",
	"approve(uint256,bool)",
	// Governors and timelocks: Compound's Bravo, OpenZeppelin's GovernorStorage, Aave's, Nouns,
	// Aragon's votings and multisigs.
	"queue(uint256)", "execute(uint256)", "queue(bytes32)", "execute(bytes32)", "schedule(bytes32)",
	"schedule(uint256)", "queue(uint256[])", "execute(uint256[])",
	"executeVote(uint256)", "executePayload(uint40)", "executeProposal(uint256)", "executeProposal(bytes32)",
	"queueProposal(uint256)", "queueProposal(bytes32)",
	"executeOperation(bytes32)", "executeBatch(uint256[])", "approveProposal(uint256)", "approveProposal(bytes32)",
	"queueTransaction(uint256)",
	"execute(uint256,bytes32)", "execute(bytes32,uint256)", "approve(uint256,bytes32)",
	// Maker's spells, which execute what their contract stores, and the hat that may.
	"schedule()", "cast()", "lift(address)",
	// Orders that are named by their hash: CoW Protocol, 0x, Wyvern.
	"setPreSignature(bytes,bool)", "preSign(bytes32,address,bytes)", "approveOrderHash_(bytes32)",
)

func keysOf[K comparable](key func(text string) K, texts ...string) map[K]bool {
	set := make(map[K]bool, len(texts))
	for _, text := range texts {
		set[key(text)] = true
	}
	return set
}

// storedInstructions are the same of Solana programs, where an account stores the content:
// Squads 3 and 4 and its Smart Account, Coral's multisig, SPL Governance, and their forks.
// Each is known by its discriminator of Anchor, which is the same in every program, and by
// its name in the IDL, since other programs number their instructions.
var storedInstructions = []string{
	"approve_transaction", "execute_transaction", "execute_instruction", "activate_transaction",
	"execute_transaction_sequential",
	"proposal_approve", "proposal_activate", "vault_transaction_execute", "config_transaction_execute",
	"batch_execute_transaction",
	"approve_proposal", "activate_proposal", "execute_proposal", "execute_settings_transaction",
	"execute_batch_transaction",
	"proposal_approve_v2", "execute_config_transaction", "execute_vault_transaction", "confirm_transaction",
	"queue_transaction",
	"cast_vote", "sign_off_proposal",
}

// anchored has their discriminators, and that of Coral's approve: the name alone may be
// that of an allowance.
var anchored = keysOf(func(name string) [discriminatorSize]byte {
	digest := sha256.Sum256([]byte("global:" + name))
	return [discriminatorSize]byte(digest[:])
}, append([]string{"approve"}, storedInstructions...)...)

const discriminatorSize = 8

// realms are instructions of SPL Governance by their first byte: SignOffProposal (12),
// CastVote (13), by which the members of a multisig approve, and ExecuteTransaction (16).
var realms = map[string][]byte{"GovER5Lthms3bLBqWub97yVrMmEogzX7xNjdXpPPCVZw": {12, 13, 16}}

// problemByReference says why a complete reading of such a call does not show what it does.
const problemByReference = "it approves or executes what is stored elsewhere: the arguments name it and do not show it"

// isByReference reports whether a call of a function, by its name, is one of those that
// only name what they approve or execute.
func isByReference(call chains.Call, name string) bool {
	if call.Chain != solanaChain {
		return len(call.Data) >= 4 && byReference[[4]byte(call.Data)]
	}
	return len(call.Data) >= discriminatorSize && anchored[[discriminatorSize]byte(call.Data)] ||
		len(call.Data) > 0 && bytes.IndexByte(realms[call.To.String()], call.Data[0]) >= 0 ||
		slices.ContainsFunc(storedInstructions,
			func(stored string) bool { return plainName(stored) == plainName(name) })
}

// plainName is a name without the marks of its notation: camel case or underscores.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// keepBlind makes a reading incomplete if no reading can show what the call does, or the
// file's pin says so.
func (file *File) keepBlind(call chains.Call, reading *chains.Reading) {
	if !reading.Complete {
		return
	}
	for _, prefix := range file.blind {
		if bytes.HasPrefix(call.Data, []byte(prefix)) {
			reading.Complete, reading.Problem = false, "the pin keeps calls of this function blind"
		}
	}
	if isByReference(call, reading.Function) {
		reading.Complete, reading.Problem = false, problemByReference
	}
}

// namedLikeOne matches the names of functions that approve or execute something.
var namedLikeOne = plaintext.NewPattern(
	`(^|_)(?i:approve|confirm|execute|queue|schedule)|Approve|Confirm|Execute|Queue|Schedule`)

// onlyIDs matches the types of parameters that can only name something.
var onlyIDs = plaintext.NewPattern(`^\((bytes32|u?int[0-9]*)?(,(bytes32|u?int[0-9]*))*\)$`)

// ByReference returns the functions of the file whose names and parameters look as if they
// approve or execute what is stored elsewhere, and that neither the engine nor the pin keeps
// blind: each with the selector that keeps it so.
func (file *File) ByReference() (functions []Function) {
	lister, ok := file.source.(interface{ functions() []Function })
	if !ok {
		return nil
	}
	for _, function := range lister.functions() {
		name, parameters, _ := strings.Cut(function.Name, "(")
		if !namedLikeOne.MatchString(name) || parameters != "" && !onlyIDs.MatchString("("+parameters) {
			continue
		}
		if !file.blindTo(function) {
			functions = append(functions, function)
		}
	}
	return functions
}

// blindTo reports whether calls of a function stay blind.
func (file *File) blindTo(function Function) bool {
	chain := "eip155"
	if _, solana := file.source.(*program); solana {
		chain = solanaChain
	}
	reading := chains.Reading{Complete: true, Function: function.Name}
	file.keepBlind(chains.Call{Chain: chain, Data: function.Selector}, &reading)
	return !reading.Complete
}

// Function is a function that a file describes.
type Function struct {
	Name     string // its signature, or the name of the instruction
	Selector []byte // what the data of its calls begins with
}

func (d *descriptor) functions() (functions []Function) {
	for selector, f := range d.formats {
		functions = append(functions, Function{f.function.Signature, selector[:]})
	}
	slices.SortFunc(functions, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return functions
}

// functions returns the instructions that have no arguments but numbers and keys.
func (p *program) functions() (functions []Function) {
	for i := range p.instructions {
		instruction := &p.instructions[i]
		if instruction.namesOnly() && len(instruction.discriminators) > 0 &&
			instruction.discriminators[0].offset == 0 {
			functions = append(functions, Function{instruction.name, []byte(instruction.discriminators[0].data)})
		}
	}
	return functions
}

func (i *programInstruction) namesOnly() bool {
	for _, member := range i.args.members {
		optionalText := member.kind == wireOption && member.element.kind == wireSized
		array := member.kind == wireArray && member.size == 32
		if member.kind != wireNumber && member.kind != wireKey && !array && !optionalText {
			return false
		}
	}
	return true
}
