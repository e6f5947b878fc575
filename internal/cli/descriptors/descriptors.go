// Package descriptors is the command descriptors.
package descriptors

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/trust"
)

// NewCommand returns the command descriptors.
func NewCommand() *cobra.Command {
	var flags descriptorFlags
	group := console.Group("descriptors", "List and pin the descriptors that explain calls", `
Descriptors (ERC-7730), contract ABIs and IDLs of Solana programs explain calls, files of
Solana lookup tables list the accounts that transactions take from them, and templates say
whose texts are: see docs/descriptors.md. A file is used only if you have pinned it.`,
		newDescriptorsListCommand(&flags), newDescriptorsCheckCommand(&flags), newDescriptorsPinCommand(&flags))
	set := group.PersistentFlags()
	set.StringVar(&flags.configFile, "config", "", "use the descriptors of this configuration `FILE`: countersign.yaml")
	set.StringVar(&flags.Folder, "folder", "", "`DIR` with descriptors, instead of --config")
	set.StringVar(&flags.Pins, "pins", "", "`FILE` with pinned digests, with --folder")
	return group
}

// descriptorFlags name a folder of descriptors: the one of a configuration, or one on its own.
type descriptorFlags struct {
	configFile string
	config.Descriptors
	output console.OutputFlag
}

func (f *descriptorFlags) open() (*descriptors.Folder, error) {
	if (f.configFile == "") == (f.Folder == "") {
		return nil, console.Usagef("name a folder with --folder, or a configuration that has one with --config")
	}
	if f.configFile != "" {
		configured, err := config.Read(f.configFile)
		if err != nil {
			return nil, err
		}
		if configured.Descriptors == nil {
			return nil, fmt.Errorf("%s has no descriptors", f.configFile)
		}
		f.Descriptors = *configured.Descriptors
	}
	return deployment.OpenDescriptors(&f.Descriptors, nil)
}

type describedFile struct {
	File    string   `json:"file"`
	SHA256  string   `json:"sha256,omitempty"`
	Targets []string `json:"targets,omitempty"`
	Trust   string   `json:"trust,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

func describe(file *descriptors.File) describedFile {
	described := describedFile{File: file.Name, Targets: file.Targets, Trust: file.Trust, Problem: file.Problem}
	if file.Digest != [32]byte{} {
		described.SHA256 = hex.EncodeToString(file.Digest[:])
	}
	return described
}

func (f describedFile) cells() []string {
	return []string{f.File, cmp.Or(f.Trust, "no: "+f.Problem), cmp.Or(strings.Join(f.Targets, ", "), "-"), cmp.Or(f.SHA256, "-")}
}

func newDescriptorsListCommand(flags *descriptorFlags) *cobra.Command {
	command := &cobra.Command{
		Use:   "list",
		Short: "List the files of a folder, and why each is trusted",
		Long: console.Paragraphs(`
List the files as a table on a terminal, otherwise as one line of JSON each:

  {"file","sha256","targets","trust","problem"}

A file without "trust" is not used, and "problem" says why.`),
		Example: "  countersign descriptors list --config countersign.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printDescriptors(cmd, flags, func(*descriptors.File) bool { return true })
		},
	}
	flags.output.RegisterListing(command)
	return command
}

func newDescriptorsCheckCommand(flags *descriptorFlags) *cobra.Command {
	command := &cobra.Command{
		Use:   "check",
		Short: "Check that every file of a folder is used",
		Long: console.Paragraphs(`
Print the files that are not used, with the reason. The exit status is 1 if there are any.

Standard error names the functions of the others that may approve or execute what is stored
elsewhere: called approve, confirm, execute, queue or schedule, with nothing but hashes and
ids as arguments. A reading of such a call shows what it names and not what it does. If a
function does that, keep its calls blind by a line below the pin of its file:

  blind: [0xd4d9bdcd]`),
		Example: "  countersign descriptors check --config countersign.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			unused := 0
			err := printDescriptors(cmd, flags, func(file *descriptors.File) bool {
				if file.Problem != "" {
					unused++
					return true
				}
				for _, function := range file.ByReference() {
					fmt.Fprintf(cmd.ErrOrStderr(),
						"%s: %s may approve or execute what is stored elsewhere, which no reading shows: if it "+
							"does, write 'blind: [0x%x]' below the file's pin\n",
						file.Name, function.Name, function.Selector)
				}
				return false
			})
			if err == nil && unused > 0 {
				err = fmt.Errorf("%d files are not used", unused)
			}
			return err
		},
	}
	flags.output.RegisterListing(command)
	return command
}

func printDescriptors(cmd *cobra.Command, flags *descriptorFlags, wanted func(*descriptors.File) bool) error {
	folder, err := flags.open()
	if err != nil {
		return err
	}
	out := console.NewListing(cmd.OutOrStdout(), flags.output.IsText(),
		[]string{"FILE", "USED", "TARGETS", "SHA-256"}, describedFile.cells)
	for _, file := range folder.Files() {
		if !wanted(file) {
			continue
		}
		if err := out.Print(describe(file)); err != nil {
			return err
		}
	}
	return out.Flush()
}

func newDescriptorsPinCommand(flags *descriptorFlags) *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "pin [FILE]…",
		Short: "Pin files that you have reviewed",
		Long: console.Paragraphs(`
Add the digests of files to the manifest of pins. FILE is a path in the folder, as
'descriptors list' prints it. The digest covers the file and everything it includes: if
any of it changes, the file is no longer used until you pin it again. Review a file
before you pin it, because it will be trusted.`),
		Example: "  countersign descriptors pin --config countersign.yaml router.json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return pinDescriptors(cmd, flags, args, all)
		},
	}
	command.Flags().BoolVar(&all, "all", false, "pin every file that can be read")
	return command
}

func pinDescriptors(cmd *cobra.Command, flags *descriptorFlags, wanted []string, all bool) error {
	if all == (len(wanted) > 0) {
		return console.Usagef("name the files to pin, or pass --all")
	}
	folder, err := flags.open()
	if err != nil {
		return err
	}
	if flags.Pins == "" {
		return errors.New("no manifest for the pins: set descriptors.pins in the configuration, or pass --pins")
	}
	pins, err := deployment.ReadPins(flags.Pins)
	if err != nil {
		return err
	}
	var pinned []string
	for _, file := range folder.Files() {
		if (all || slices.Contains(wanted, file.Name)) && file.Readable() {
			pinned = append(pinned, file.Name)
			pins.Add(file)
		}
	}
	for _, name := range wanted {
		if !slices.Contains(pinned, name) {
			return fmt.Errorf("%s: the folder has no such file that can be read: 'countersign descriptors list' prints them", name)
		}
	}
	if err := trust.Replace(flags.Pins, pins.Encode()); err != nil {
		return err
	}
	if folder, err = deployment.OpenDescriptors(&flags.Descriptors, nil); err != nil { // with the new pins
		return err
	}
	for _, file := range folder.Files() {
		if slices.Contains(pinned, file.Name) {
			if err := console.PrintJSON(cmd.OutOrStdout(), describe(file)); err != nil {
				return err
			}
		}
	}
	return nil
}
