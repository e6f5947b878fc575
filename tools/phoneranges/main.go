// Command phoneranges prints the ranges of package otp to which text messages are refused:
// premium-rate and shared-cost numbers, as libphonenumber's metadata knows them. That is
// resources/PhoneNumberMetadata.xml of github.com/google/libphonenumber (Apache 2.0).
//
//	go run ./phoneranges -version COMMIT PhoneNumberMetadata.xml > ../otp/ranges.json
package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// territory is what is read of a country or a service in the metadata.
type territory struct {
	Code       string `xml:"countryCode,attr"`
	Premium    string `xml:"premiumRate>nationalNumberPattern"`
	SharedCost string `xml:"sharedCost>nationalNumberPattern"`
	Mobile     string `xml:"mobile>nationalNumberPattern"`
	Fixed      string `xml:"fixedLine>nationalNumberPattern"`
	Lengths    struct {
		National string `xml:"national,attr"`
	} `xml:"mobile>possibleLengths"`
}

// country is the patterns of the territories that share a calling code.
type country struct {
	costly, ordinary []string
	longest          int // mobile number, in digits after the calling code
}

func main() {
	version := flag.String("version", "", "commit of the metadata")
	flag.Parse()
	file, err := os.Open(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	countries, err := read(file)
	if err != nil {
		log.Fatal(err)
	}
	source, err := generate(*version, countries)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(source))
}

// read reads the metadata. The services with a calling code of their own are left out:
// package otp names those itself.
func read(from io.Reader) (map[string]*country, error) {
	var metadata struct {
		Territories []territory `xml:"territories>territory"`
	}
	if err := xml.NewDecoder(from).Decode(&metadata); err != nil {
		return nil, err
	}
	countries := map[string]*country{}
	for _, t := range metadata.Territories {
		if t.Fixed == "" {
			continue
		}
		c := countries[t.Code]
		if c == nil {
			c = &country{}
			countries[t.Code] = c
		}
		add(&c.costly, t.Premium, t.SharedCost)
		add(&c.ordinary, t.Mobile, t.Fixed)
		for _, digits := range number.FindAllString(t.Lengths.National, -1) {
			length, _ := strconv.Atoi(digits) // digits
			c.longest = max(c.longest, length)
		}
	}
	return countries, nil
}

var number = regexp.MustCompile(`[0-9]+`)

var space = regexp.MustCompile(`\s`)

func add(to *[]string, patterns ...string) {
	for _, pattern := range patterns {
		pattern = space.ReplaceAllString(pattern, "")
		if pattern != "" && pattern != "NA" && !slices.Contains(*to, pattern) {
			*to = append(*to, pattern)
		}
	}
}

// row is what package otp reads about the numbers after a calling code.
type row struct {
	Costly  string `json:"costly,omitempty"`  // pattern of premium-rate and shared-cost numbers
	Longest int    `json:"longest,omitempty"` // digits of the longest mobile numbers
	Zero    bool   `json:"zero,omitempty"`    // numbers can begin with zero
}

func generate(version string, countries map[string]*country) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"source\": \"resources/PhoneNumberMetadata.xml of libphonenumber, commit %s\",\n\"codes\": {\n", version)
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for i, code := range slices.Sorted(maps.Keys(countries)) {
		c := countries[code]
		made, err := c.row()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", code, err)
		}
		if made == (row{}) {
			continue
		}
		if i > 0 {
			out.Truncate(out.Len() - len("\n"))
			out.WriteString(",\n")
		}
		fmt.Fprintf(&out, "%q: ", code)
		if err := encoder.Encode(made); err != nil {
			return nil, err
		}
	}
	out.WriteString("}}\n")
	return out.Bytes(), nil
}

func (c *country) row() (made row, err error) {
	made.Longest = c.longest
	if len(c.costly) > 0 {
		if made.Costly, err = c.pattern(); err != nil {
			return row{}, err
		}
	}
	made.Zero, err = c.beginsWithZero()
	return made, err
}

// beginsWithZero reports whether an ordinary number can begin with zero.
func (c *country) beginsWithZero() (bool, error) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, ordinary := range c.ordinary {
		parsed, err := syntax.Parse(ordinary, syntax.Perl)
		if err != nil {
			return false, err
		}
		for range samples {
			if strings.HasPrefix(draw(parsed, random), "0") {
				return true, nil
			}
		}
	}
	return false, nil
}

// samples is how many ordinary numbers are drawn of each pattern.
const samples = 20_000

// pattern returns a pattern for the costly numbers. It also fits such a number with more
// digits, which some networks ignore, unless an ordinary number could begin like it.
func (c *country) pattern() (string, error) {
	open := `^(?:` + strings.Join(c.costly, "|") + `)`
	costly, err := regexp.Compile(open)
	if err != nil {
		return "", err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, ordinary := range c.ordinary {
		parsed, err := syntax.Parse(ordinary, syntax.Perl)
		if err != nil {
			return "", err
		}
		for range samples {
			if costly.MatchString(draw(parsed, random)) {
				return open + `$`, nil
			}
		}
	}
	return open, nil
}

// draw returns a random text that a pattern fits.
func draw(pattern *syntax.Regexp, random *rand.Rand) string {
	var out strings.Builder
	repeat := func(from, to int) {
		for range from + random.IntN(to-from+1) {
			out.WriteString(draw(pattern.Sub[0], random))
		}
	}
	switch pattern.Op {
	case syntax.OpLiteral:
		return string(pattern.Rune)
	case syntax.OpCharClass:
		pair := 2 * random.IntN(len(pattern.Rune)/2)
		from, to := pattern.Rune[pair], pattern.Rune[pair+1]
		return string(from + rune(random.IntN(int(to-from)+1)))
	case syntax.OpConcat:
		for _, sub := range pattern.Sub {
			out.WriteString(draw(sub, random))
		}
	case syntax.OpAlternate:
		return draw(pattern.Sub[random.IntN(len(pattern.Sub))], random)
	case syntax.OpCapture:
		return draw(pattern.Sub[0], random)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(pattern.Min, pattern.Max)
	}
	return out.String()
}
