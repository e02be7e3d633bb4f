// The parsers of Docker itself, as a command for tests: what they read, as JSON.
//
//	parse compose FILE [ENVFILE]     the compose file, interpolated and normalised, by compose-go
//	parse dockerfile FILE            the stages and their commands, by BuildKit's parser, with its linter's warnings
//	parse context FOLDER             the files that .dockerignore lets into a build
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: parse compose FILE [ENVFILE] | parse dockerfile FILE | parse context FOLDER"))
	}
	read := map[string]func(string, []string) (any, error){"compose": compose, "dockerfile": dockerfile, "context": buildContext}[os.Args[1]]
	found, err := read(os.Args[2], os.Args[3:])
	fail(err)
	fail(json.NewEncoder(os.Stdout).Encode(found))
}

func compose(file string, env []string) (any, error) {
	options, err := cli.NewProjectOptions([]string{file},
		cli.WithWorkingDirectory(filepath.Dir(file)),
		cli.WithEnvFiles(env...), cli.WithDotEnv,
		cli.WithName("suma"), cli.WithInterpolation(true), cli.WithResolvedPaths(false))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

type command struct {
	Name string
	At   int
	Is   any
}

type stage struct {
	Name, Base string
	Commands   []command
}

func dockerfile(file string, _ []string) (any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	warnings := []string{}
	for _, warning := range parsed.Warnings {
		warnings = append(warnings, warning.Short)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, at []parser.Range) {
		warnings = append(warnings, fmt.Sprintf("%s: %s %v", rule, message, at))
	}})
	stages, arguments, err := instructions.Parse(parsed.AST, lint)
	if err != nil {
		return nil, err
	}
	found := []stage{}
	for _, each := range stages {
		made := stage{Name: each.Name, Base: each.BaseName}
		for _, is := range each.Commands {
			made.Commands = append(made.Commands, command{strings.ToUpper(is.Name()), is.Location()[0].Start.Line, is})
		}
		found = append(found, made)
	}
	return map[string]any{"Arguments": arguments, "Stages": found, "Warnings": warnings}, nil
}

func buildContext(folder string, _ []string) (any, error) {
	text, err := os.ReadFile(filepath.Join(folder, ".dockerignore"))
	if err != nil {
		return nil, err
	}
	patterns, err := ignorefile.ReadAll(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return nil, err
	}
	files := []string{}
	err = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		if entry.IsDir() {
			// Nothing of these is ever let in; to walk through them takes seconds.
			if strings.HasPrefix(name, ".") && name != "." {
				return filepath.SkipDir
			}
			return nil
		}
		out, err := matcher.MatchesOrParentMatches(name)
		if err == nil && !out {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
