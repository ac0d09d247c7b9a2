package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sightline/client"
)

// ProjectsCmd is sightline projects.
type ProjectsCmd struct {
	List    ProjectsListCmd    `cmd:"" help:"List the projects."`
	Get     ProjectsGetCmd     `cmd:"" help:"Show a project."`
	Create  ProjectsCreateCmd  `cmd:"" help:"Create a project."`
	Delete  ProjectsDeleteCmd  `cmd:"" help:"Move a project with its reports into the trash."`
	Restore ProjectsRestoreCmd `cmd:"" help:"Bring a project back from the trash."`
}

// ProjectsListCmd is sightline projects list.
type ProjectsListCmd struct {
	ListFlags
}

var projectList = list[client.Project]{
	plural: "projects",
	page:   (*client.Client).Projects,
	all:    (*client.Client).AllProjects,
	raw:    func(p client.Project) json.RawMessage { return p.Raw },
	heads:  []string{"ID", "PROJECT", "REPORTS", "SCORE", "LAST REPORT", "CREATED"},
	row: func(p client.Project) []string {
		return []string{strconv.FormatInt(p.ID, 10), printable(p.Project), strconv.Itoa(p.Reports), scoreText(p), dateText(p.LastReportAt), dateText(p.CreatedAt)}
	},
}

// Run lists projects.
func (c *ProjectsListCmd) Run(ctx context.Context, term *terminal) error {
	return projectList.show(ctx, term, &c.ListFlags)
}

func scoreText(p client.Project) string {
	if p.Score == nil {
		return "-"
	}
	return fmt.Sprintf("%d (%s)", *p.Score, printable(p.Result))
}

// ProjectArgument names a project of the server.
type ProjectArgument struct {
	Project string `arg:"" help:"The project's name or number in sightline projects list."`
}

// Validate is called by kong.
func (a *ProjectArgument) Validate() error {
	if strings.TrimSpace(a.Project) == "" {
		return errors.New("the project needs a name")
	}
	return nil
}

// ProjectsGetCmd is sightline projects get.
type ProjectsGetCmd struct {
	RemoteFlags
	ProjectArgument
}

// Run shows a project.
func (c *ProjectsGetCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		project, err := api.Project(ctx, c.Project)
		if err != nil {
			return fmt.Errorf("project %s: %w", c.Project, err)
		}
		if c.JSON {
			return writeJSON(term.stdout, project.Raw)
		}
		return writeColumns(term.stdout, [][]string{
			{"id", strconv.FormatInt(project.ID, 10)},
			{"project", printable(project.Project)},
			{"reports", strconv.Itoa(project.Reports)},
			{"score", scoreText(project)},
			{"last report", timeText(project.LastReportAt)},
			{"created", timeText(project.CreatedAt)},
			{"updated", timeText(project.UpdatedAt)},
		}, 0)
	})
}

// ProjectsCreateCmd is sightline projects create.
type ProjectsCreateCmd struct {
	RemoteFlags
	Project string `arg:"" help:"A host such as example.com, an address (its host is the name), or any other name that is not all digits."`
}

// Run creates a project.
func (c *ProjectsCreateCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		create := api.CreateProject
		if strings.HasPrefix(c.Project, "http://") || strings.HasPrefix(c.Project, "https://") {
			create = api.CreateProjectOf
		}
		project, err := create(ctx, c.Project)
		if err != nil {
			return err
		}
		return c.reportProject(term, project, "created")
	})
}

// reportProject says what was done to a project.
func (f *RemoteFlags) reportProject(term *terminal, project client.Project, done string) error {
	if f.JSON {
		return writeJSON(term.stdout, project.Raw)
	}
	_, err := fmt.Fprintf(term.stdout, "Project %d (%s) is %s.\n", project.ID, printable(project.Project), done)
	return err
}

// ProjectsDeleteCmd is sightline projects delete.
type ProjectsDeleteCmd struct {
	RemoteFlags
	ProjectArgument
}

// Run moves a project into the trash.
func (c *ProjectsDeleteCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		gone, err := api.DeleteProject(ctx, c.Project)
		if err != nil {
			return fmt.Errorf("project %s: %w", c.Project, err)
		}
		if c.JSON {
			return writeJSON(term.stdout, gone)
		}
		_, err = fmt.Fprintf(term.stdout, "Project %d (%s) is deleted. While it is in the trash, this brings it back: sightline projects restore %d\n",
			gone.ID, printable(gone.Project), gone.ID)
		return err
	})
}

// ProjectsRestoreCmd is sightline projects restore.
type ProjectsRestoreCmd struct {
	RemoteFlags
	ID int64 `arg:"" help:"The number that the project had."`
}

// Run brings a project back.
func (c *ProjectsRestoreCmd) Run(ctx context.Context, term *terminal) error {
	return withServer(ctx, c.Remote, func(api *client.Client) error {
		project, err := api.RestoreProject(ctx, c.ID)
		if err != nil {
			return fmt.Errorf("project %d in the trash: %w", c.ID, err)
		}
		return c.reportProject(term, project, "restored")
	})
}
