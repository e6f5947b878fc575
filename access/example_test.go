package access_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/countersign-dev/countersign/access"
)

// The users of an engine can be replaced while it serves.
func ExampleCurrent_Replace() {
	users := func(names ...string) access.Directory {
		organization := access.OrganizationConfig{ID: "my-organization"}
		for _, name := range names {
			organization.Users = append(organization.Users, access.UserConfig{ID: name, Name: name})
		}
		directory, err := access.NewDirectory([]access.OrganizationConfig{organization})
		if err != nil {
			log.Fatal(err)
		}
		return directory
	}
	current := access.NewCurrent(access.State{Directory: users("ann")}) // Directory: current, in Config
	current.Replace(access.State{Directory: users("ben")})

	for _, name := range []string{"ann", "ben"} {
		user, err := current.User(context.Background(), "my-organization", name)
		fmt.Println(name, user != nil, err)
	}
	// Output:
	// ann false countersign: no such user
	// ben true <nil>
}

// One vote can fill a place of two rules, but only one place of each.
func ExampleMissing() {
	groups := []access.Group{
		{Rule: "payments", Count: 2, Tag: "finance"},
		{Rule: "large payments", Count: 1, Tag: "board"},
	}
	now := time.Now()
	ann := access.Vote{User: access.User{ID: "ann", Tags: []string{"finance", "board"}}, At: now}
	fmt.Println(access.Missing(groups, []access.Vote{ann}, "bot", now))
	// Output: [1 0]
}
