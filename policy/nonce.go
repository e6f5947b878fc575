package policy

import (
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
)

// slot returns what the charges of a limit exclude each other by: the key, the network and
// the nonce of a transaction, of which the network includes one. It is empty unless the limit
// says so, and for everything but such a transaction: a message, a delegation and a user
// operation are valid beside others of their nonce.
func (c *cover) slot(limit *limit) string {
	request := c.evaluation.request
	if _, signs := request.Intent.(activity.SignTransactionIntent); !limit.nonce || !signs || request.Summary == nil {
		return ""
	}
	words := words().chains[request.Summary.Chain]
	chain, hasChain := chains.Keyed(request.Summary.Fields, "chain_id")
	nonce, hasNonce := chains.Keyed(request.Summary.Fields, "nonce")
	key := single(request.Keys, func(key *access.SigningKey) string { return key.ID })
	if key == "" || !hasChain || !hasNonce || chain.Type != chains.TypeInteger || nonce.Type != chains.TypeInteger {
		return ""
	}
	network := words.Namespace + ":" + chain.Value
	if network != limit.asset.Chain || words.OneNonce == nil || !words.OneNonce(network) {
		return ""
	}
	return strings.Join([]string{key, network, nonce.Value}, " ")
}

// checkNonce refuses replaces: nonce for an asset of a network where it would be a hole.
func (l *limit) checkNonce(n source.Node) {
	for _, name := range words().names() {
		if of := words().chains[name].OneNonce; of != nil && of(l.asset.Chain) {
			return
		}
	}
	n.Fail("replaces: nonce needs an asset of a network of which a nonce is one transaction, such as eip155:1: %s is none", l.asset.Chain)
}
