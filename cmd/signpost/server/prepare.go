package server

import (
	"context"
	"time"

	"signpost/db"
	"signpost/db/replica"
	"signpost/gateway"
	"signpost/resolver/catalog"
)

// state gives the gateway what it needs to know of the replica.
type state struct{ *replica.Replica }

// Contact counts a catalog that was never loaded as endlessly old.
func (s state) Contact() gateway.Contact {
	age, known := s.Age()
	switch {
	case !s.Ready():
		return gateway.Contact{Age: gateway.NeverLoaded}
	case known:
		return gateway.Contact{Known: true}
	}
	return gateway.Contact{Age: age}
}

const (
	retryEvery = 200 * time.Millisecond
	askWait    = 10 * time.Second // for questions about the schema; then the database counts as away
)

// prepareSchema migrates or checks the schema. While the database cannot be
// reached it tries again; what only an operator can mend is an error.
func (s *Server) prepareSchema(ctx context.Context) error {
	url := s.config.Postgres.Direct()
	said := false
	for ctx.Err() == nil {
		err := s.checkOnce(ctx, string(url))
		if err == nil {
			s.schema.Store(true)
			return nil
		}
		if ctx.Err() != nil {
			return nil // told to stop
		}
		if !db.IsAway(err) {
			return err
		}
		if !said {
			said = true
			s.log.Warn("waiting for the database", "error", err)
		}
		sleep(ctx, retryEvery)
	}
	return nil
}

func (s *Server) checkOnce(parent context.Context, url string) error {
	ctx, cancel := context.WithTimeout(parent, askWait)
	defer cancel()
	if err := db.CheckServer(ctx, url); err != nil {
		return err
	}
	if !s.options.NoMigrate {
		if err := db.Migrate(parent, url); err != nil { // it takes as long as it takes
			return err
		}
	}
	ctx, cancel = context.WithTimeout(parent, askWait)
	defer cancel()
	return db.CheckSchema(ctx, url)
}

// registerAgent puts the node that all replicas together appear as into the
// catalog. Where it is there already, nothing changes.
func (s *Server) registerAgent(ctx context.Context) error {
	for ctx.Err() == nil {
		_, err := gateway.Do(ctx, s.gateway, &gateway.CatalogRegister, &gateway.Request{}, s.gateway.AgentRegistration())
		if err == nil {
			s.agent.Store(true)
			s.log.Info("ready", "http", s.HTTP().String(), "dns", s.DNS().String(), "index", uint64(s.replica.Snapshot().Index()))
			return nil
		}
		if catalog.CodeOf(err) != catalog.Unavailable && catalog.CodeOf(err) != catalog.Unknown {
			s.log.Warn("registering the node of this service failed", "error", err)
		}
		sleep(ctx, retryEvery)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
