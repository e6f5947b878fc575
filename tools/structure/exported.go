package main

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
)

// Unused returns the exported names of packages that no other of those packages uses, external
// tests included, and that are in no signature, field or method of a used name. Methods are not
// looked at.
func Unused(all []*packages.Package) []string {
	declared, used := map[string]types.Object{}, map[string]bool{}
	for _, p := range all {
		for _, name := range p.Types.Scope().Names() {
			// A package is loaded again with its tests: those names are not of its API.
			if object := p.Types.Scope().Lookup(name); object.Exported() && alone(p) && p.Name != "main" {
				declared[p.PkgPath+"."+name] = object
			}
		}
		for _, object := range p.TypesInfo.Uses {
			if pkg := object.Pkg(); pkg != nil && object.Parent() == pkg.Scope() && pkg.Path() != p.PkgPath {
				used[pkg.Path()+"."+object.Name()] = true
			}
		}
	}
	seen := map[types.Type]bool{}
	for name, object := range declared {
		if used[name] {
			reach(object.Type(), used, seen)
		}
	}
	var unused []string
	for name := range declared {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	slices.Sort(unused)
	return unused
}

// reach marks the named types that a type has in its signature, fields, elements or exported methods, and those
// that they have.
func reach(t types.Type, used map[string]bool, seen map[types.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		if pkg := t.Obj().Pkg(); pkg != nil {
			used[pkg.Path()+"."+t.Obj().Name()] = true
		}
		for argument := range t.TypeArgs().Types() {
			reach(argument, used, seen)
		}
		for method := range t.Methods() {
			if method.Exported() {
				reach(method.Type(), used, seen)
			}
		}
		reach(t.Underlying(), used, seen)
	case *types.Map:
		reach(t.Key(), used, seen)
		reach(t.Elem(), used, seen)
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		reach(t.Elem(), used, seen)
	case *types.Signature:
		reach(t.Params(), used, seen)
		reach(t.Results(), used, seen)
	case *types.Tuple:
		for v := range t.Variables() {
			reach(v.Type(), used, seen)
		}
	case *types.Struct:
		for field := range t.Fields() {
			if field.Exported() {
				reach(field.Type(), used, seen)
			}
		}
	case *types.Interface:
		for method := range t.Methods() {
			reach(method.Type(), used, seen)
		}
	}
}
