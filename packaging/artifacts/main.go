// Command artifacts makes what a release page needs beside the binaries, from the folder that
// packaging/release.sh has filled. What it writes depends only on that folder, the version and the
// time of the commit.
//
//	artifacts packages  SOURCE DIST VERSION TIME   deb and rpm packages
//	artifacts image     SOURCE DIST VERSION TIME   OCI images, as archives of an OCI layout
//	artifacts statement SOURCE DIST VERSION TIME   in-toto statement with SLSA provenance over SHA256SUMS
//
// SOURCE is the checkout, for the unit and the license. TIME is in seconds since 1970. VERSION begins with a digit, as packages want it.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Release is what the artifacts are made of.
type Release struct {
	Source, Dist, Version string
	Time                  time.Time
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "artifacts:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 5 {
		return errors.New("usage: artifacts packages|image|statement SOURCE DIST VERSION TIME")
	}
	seconds, err := strconv.ParseInt(args[4], 10, 64)
	if err != nil {
		return err
	}
	release := &Release{args[1], args[2], args[3], time.Unix(seconds, 0).UTC()}
	switch args[0] {
	case "packages":
		return release.packages()
	case "image":
		return release.images()
	case "statement":
		return release.statement()
	}
	return fmt.Errorf("%q: one of packages, image and statement", args[0])
}
