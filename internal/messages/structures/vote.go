package structures

import "github.com/countersign-dev/countersign/chains"

// votes are votes of Snapshot: the proposal is a hash or a string, and the choice a
// number, several, or a string with weights.
var votes = func() []structure {
	var votes []structure
	for _, proposal := range []string{"bytes32", "string"} {
		for _, choice := range []string{"uint32", "uint32[]", "string"} {
			votes = append(votes, structure{"Vote(address from,string space,uint64 timestamp," +
				proposal + " proposal," + choice + " choice,string reason,string app,string metadata)", named("snapshot"), saidBy("from")})
		}
	}
	return append(votes, ballots...)
}()

// ballots are votes for a governor (Compound's Alpha and Bravo, and OpenZeppelin's Governor up to
// version 5), which is the contract that verifies them. They move nothing of the voter's.
var ballots = []structure{
	{"Ballot(uint256 proposalId,bool support)", hasContract, ballot},
	{"Ballot(uint256 proposalId,uint8 support)", hasContract, ballot},
	{"Ballot(uint256 proposalId,uint8 support,address voter,uint256 nonce)", hasContract, ballot},
	{"BallotWithReason(uint256 proposalId,uint8 support,string reason)", hasContract, ballot},
	{"ExtendedBallot(uint256 proposalId,uint8 support,string reason,bytes params)", hasContract, ballot},
	{"ExtendedBallot(uint256 proposalId,uint8 support,address voter,uint256 nonce,string reason,bytes params)",
		hasContract, ballot},
}

func hasContract(d *document) bool { return d.domain.contract != nil }

func ballot(r *reading) {
	effect := chains.Effect{Kind: chains.KindMessage, To: r.network.Party(*r.domain.contract)}
	if voter, ok := r.message.Member("voter"); ok {
		effect.From = r.party(voter)
	}
	r.addFrom(effect)
}

// saidBy is for statements of the account in a member.
func saidBy(member string) func(*reading) {
	return func(r *reading) { r.addFrom(chains.Effect{Kind: chains.KindMessage, From: r.party(r.field(member))}) }
}
