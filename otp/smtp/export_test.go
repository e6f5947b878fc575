package smtp

// ParseOffer is parseOffer.
var ParseOffer = parseOffer
