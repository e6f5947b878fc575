package policy

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/source"
)

// pricesSchema is the version of the form of a price file. It is in the file so that nothing else
// that its key signs can be taken for one.
const pricesSchema = "countersign.prices/1"

// Bounds of a price file, and the digits that prices and values have after the point.
const (
	maxPriceFile  = 2 << 20 // bytes
	maxPrices     = 10_000
	priceDecimals = 18
	valueDecimals = 6
	maxPriceAhead = time.Minute // that the clock of a price file may be ahead of ours
)

var currencyName = plaintext.NewPattern(`^[a-z][a-z0-9]{1,15}$`)

// priceList is what assets are worth in one currency, as one price file says. It is immutable.
type priceList struct {
	currency string
	at       time.Time
	maxAge   time.Duration
	digest   [32]byte          // of the file
	from     string            // the name of the file, and its key or digest
	undated  bool              // never too old: of a test, and in a replay
	quotes   map[string]*quote // by identity
	place    source.Place
	used     bool
}

// quote is the price of one asset.
type quote struct {
	chains.Asset
	decimals int
	price    *big.Int // of a whole unit of the asset, in 10^-18 of the currency
}

// unusable returns why prices say nothing at a time, empty if they do.
func (p *priceList) unusable(now time.Time) string {
	switch {
	case p == nil:
		return "there are no prices"
	case p.undated:
		return ""
	case now.After(p.until()):
		return fmt.Sprintf("the prices of %s are older than %s", shownTime(p.at), shortDuration(p.maxAge))
	case p.at.After(now.Add(maxPriceAhead)):
		return fmt.Sprintf("the prices are of %s, which is later than now", shownTime(p.at))
	}
	return ""
}

func shownTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// shortDuration formats a duration as a file has it, such as 24h or 90m.
func shortDuration(d time.Duration) string {
	text := d.String()
	if d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// until returns when the prices become too old, zero if they never do.
func (p *priceList) until() time.Time {
	if p.undated {
		return time.Time{}
	}
	return p.at.Add(p.maxAge)
}

// identity identifies an asset that has no NFT, however its token is written.
func identity(a chains.Asset) string {
	return a.Chain + "\x00" + a.TokenID + "\x00" + string(a.Token.Address())
}

// parsePrice parses the price of a whole unit.
func parsePrice(text string) (*big.Int, error) {
	price, err := parseUnits(text, priceDecimals)
	if err == nil && price.Sign() == 0 {
		err = errors.New("expected a price above zero")
	}
	return price, err
}
