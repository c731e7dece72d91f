# The commands of a developer's day. CMakeLists.txt and tools/ do the work.
BUILD := build/release
PREFIX ?= /usr/local
JOBS := $(shell nproc 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.PHONY: help build demo test test-long performance meshes install format tidy clean
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

help:
	@echo 'make demo         build eagre, list the devices, let vortices leave a square, draw them; three minutes'
	@echo 'make test         build and run every test, with sanitizers, format and lint'
	@echo 'make test-long    the tests of all degrees, where make test takes a few; half an hour'
	@echo 'make build        build eagre in $(BUILD)'
	@echo 'make performance  measure this machine and rewrite the tables of docs/performance.md'
	@echo '                  (DEVICE=cuda:0 measures that one; several in quotes)'
	@echo 'make meshes       make the .msh files of cases/geo and tests again, with Gmsh'
	@echo 'make install      install into PREFIX ($(PREFIX)); DESTDIR is honoured'
	@echo 'make format       format the C files in place'
	@echo 'make tidy         run clang-tidy'
	@echo 'make clean        remove everything that was built'

build:
	@tools/setup.sh build
	@cmake --preset release
	@cmake --build $(BUILD) -j $(JOBS)

demo: build
	@mkdir -p build/demo
	$(BUILD)/eagre devices
	$(BUILD)/eagre run cases/ins-square-cylinder.toml space.degree=3 time.subcycles=8 time.end=60 \
		output.directory=build/demo/cylinder
	$(BUILD)/eagre plot build/demo/cylinder/fields.pvd --frame last --field vorticity --range=-2,2 \
		--colours balance --zoom=-3,20,-5,5 --output build/demo/vortices.png
	$(BUILD)/eagre plot build/demo/cylinder/series.csv --y body.cd,body.cl --output build/demo/forces.svg
	@echo 'Vortices behind a square are in build/demo/vortices.png, its drag and lift in build/demo/forces.svg'

test:
	@tools/setup.sh test
	@tools/test.sh

test-long:
	@tools/setup.sh test
	@cmake --preset release
	@cmake --build $(BUILD) -j $(JOBS)
	EAGRE_TEST_LONG=1 ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure -L 'unit|convergence|kernel'

performance: build
	@tools/performance.sh $(BUILD)/eagre $(DEVICE)

meshes:
	@tools/meshes.sh

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

format:
	@tools/setup.sh test
	@tools/format.sh

tidy:
	@tools/setup.sh test
	@cmake --preset release
	@cmake --build $(BUILD) -j $(JOBS)
	@tools/lint.sh

clean:
	rm -rf build
