package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
)

func newDescriptorsCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "descriptors",
		Short: "List and pin the descriptors that calls are read with",
		Long: paragraphs(`
Descriptors (ERC-7730), contract ABIs and IDLs of Solana programs say what calls
mean, and files of Solana's lookup tables which accounts a transaction takes from
them: docs/descriptors.md. A file is used if you pinned it, or if an auditor of
yours attests it (a lookup table must be pinned); what is only there is not used.`),
		Args: commandOnly,
		RunE: chooseCommand,
	}
	command.AddCommand(newDescriptorsListCommand(), newDescriptorsCheckCommand(), newDescriptorsPinCommand())
	return command
}

// descriptorFlags say which folder is meant: that of a configuration, or one by
// its own.
type descriptorFlags struct {
	configFile string
	at         config.Descriptors
	output     outputFlag
}

func (f *descriptorFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.configFile, "config", "", "`FILE` whose descriptors are meant: countersign.yaml")
	flags.StringVar(&f.at.Folder, "folder", "", "`DIR` with descriptors, instead of --config")
	flags.StringVar(&f.at.Pins, "pins", "", "`FILE` with the digests that you pinned, with --folder")
	flags.StringArrayVar(&f.at.Auditors, "auditor", nil, "`ADDRESS` whose attestations count, with --folder; can be repeated")
}

// open reads the folder.
func (f *descriptorFlags) open() (*descriptors.Folder, error) {
	if (f.configFile == "") == (f.at.Folder == "") {
		return nil, usagef("name a folder with --folder, or a configuration that has one with --config")
	}
	if f.configFile != "" {
		configured, err := config.Read(f.configFile)
		if err != nil {
			return nil, err
		}
		if configured.Descriptors == nil {
			return nil, fmt.Errorf("%s has no descriptors", f.configFile)
		}
		f.at = *configured.Descriptors
	}
	return openDescriptors(&f.at, nil)
}

// describedFile is a file as it is listed.
type describedFile struct {
	File    string   `json:"file"`
	SHA256  string   `json:"sha256,omitempty"`
	Targets []string `json:"targets,omitempty"`
	Trust   string   `json:"trust,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

func describe(file *descriptors.File) describedFile {
	made := describedFile{File: file.Name, Targets: file.Targets, Trust: file.Trust, Problem: file.Problem}
	if file.Digest != [32]byte{} {
		made.SHA256 = hex.EncodeToString(file.Digest[:])
	}
	return made
}

func newDescriptorsListCommand() *cobra.Command {
	var flags descriptorFlags
	command := &cobra.Command{
		Use:   "list",
		Short: "List the files of a folder, and on whose word they are used",
		Long: paragraphs(`
A table on a terminal, else one line a file: {"file","sha256","targets","trust","problem"}.
A file without "trust" is not used, and "problem" says why.`),
		Example: "  countersign descriptors list --config countersign.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return eachDescriptor(cmd, &flags, func(*descriptors.File) bool { return true })
		},
	}
	flags.register(command)
	flags.output.registerListing(command)
	return command
}

func newDescriptorsCheckCommand() *cobra.Command {
	var flags descriptorFlags
	command := &cobra.Command{
		Use:     "check",
		Short:   "Check that every file of a folder is used",
		Long:    paragraphs(`Print the files that are not used, with the reason. The exit status is 1 if there is one.`),
		Example: "  countersign descriptors check --config countersign.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			unused := 0
			err := eachDescriptor(cmd, &flags, func(file *descriptors.File) bool {
				if file.Problem != "" {
					unused++
				}
				return file.Problem != ""
			})
			if err == nil && unused > 0 {
				err = fmt.Errorf("%d files are not used", unused)
			}
			return err
		},
	}
	flags.register(command)
	flags.output.registerListing(command)
	return command
}

// eachDescriptor prints the files that are wanted.
func eachDescriptor(cmd *cobra.Command, flags *descriptorFlags, wanted func(*descriptors.File) bool) error {
	asTable, err := flags.output.isText(cmd)
	if err != nil {
		return err
	}
	folder, err := flags.open()
	if err != nil {
		return err
	}
	files := slices.DeleteFunc(slices.Clone(folder.Files()), func(file *descriptors.File) bool { return !wanted(file) })
	if asTable {
		return printDescriptors(cmd.OutOrStdout(), files)
	}
	for _, file := range files {
		if err := printJSON(cmd.OutOrStdout(), describe(file)); err != nil {
			return err
		}
	}
	return nil
}

// printDescriptors prints files for a person.
func printDescriptors(w io.Writer, files []*descriptors.File) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FILE\tUSED\tTARGETS\tSHA-256")
	for _, file := range files {
		line := describe(file)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", oneLine(line.File), oneLine(cmp.Or(line.Trust, "no: "+line.Problem)),
			oneLine(cmp.Or(strings.Join(line.Targets, ", "), "-")), cmp.Or(line.SHA256, "-"))
	}
	return table.Flush()
}

func newDescriptorsPinCommand() *cobra.Command {
	var flags descriptorFlags
	var all bool
	command := &cobra.Command{
		Use:   "pin [FILE]…",
		Short: "Pin files that you have read",
		Long: paragraphs(`
Add the digests of files to the manifest of pins. FILE is a path in the folder, as
'descriptors list' prints it. The digest is of the file with everything that it
includes: if one of them changes, the file is no longer used until you pin it
again. Read a file before you pin it: what it says is believed.`),
		Example: "  countersign descriptors pin --config countersign.yaml router.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return pinDescriptors(cmd, &flags, args, all)
		},
	}
	flags.register(command)
	command.Flags().BoolVar(&all, "all", false, "pin every file that can be read")
	return command
}

func pinDescriptors(cmd *cobra.Command, flags *descriptorFlags, wanted []string, all bool) error {
	if all == (len(wanted) > 0) {
		return usagef("name the files to pin, or pass --all")
	}
	folder, err := flags.open()
	if err != nil {
		return err
	}
	if flags.at.Pins == "" {
		return errors.New("no file for the pins is named: descriptors.pins in the configuration, or --pins")
	}
	pins, err := readPins(flags.at.Pins)
	if err != nil {
		return err
	}
	var pinned []*descriptors.File
	for _, file := range folder.Files() {
		if (all || slices.Contains(wanted, file.Name)) && file.Readable() {
			pinned = append(pinned, file)
			pins.Add(file)
		}
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(pinned, func(file *descriptors.File) bool { return file.Name == name }) {
			return fmt.Errorf("%s: the folder has no such file that can be read: 'countersign descriptors list' prints them", name)
		}
	}
	if err := writeWhole(flags.at.Pins, pins.Encode()); err != nil {
		return err
	}
	for _, file := range pinned {
		made := describe(file)
		made.Trust, made.Problem = "pinned", ""
		if err := printJSON(cmd.OutOrStdout(), made); err != nil {
			return err
		}
	}
	return nil
}
