# Thin fronts: each target says what it runs. Everything that is made lies below build/.
.PHONY: demo build test sanitize bench format lint clean
PYTHON := build/venv/bin/python
PACKAGE := build/venv/package.stamp
SOURCES := $(shell git ls-files 'src/*.h' 'src/*.cc' '*.cmake' 'CMakeLists.txt' '*/CMakeLists.txt')
FORMATTED := $(shell git ls-files 'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' 'examples/*.cc' 'bench/*.h' 'bench/*.cc')

demo:  ## converts real files and shows what happened
	scripts/setup.sh build
	scripts/demo.sh

build:
	scripts/setup.sh build test
	cmake --preset release --log-level=NOTICE
	cmake --build --preset release

# The package is installed anew only when something that goes into it has changed.
$(PACKAGE): pyproject.toml $(SOURCES) $(shell find python -name '*.py*' -not -path '*/__pycache__/*')
	scripts/setup.sh build test venv
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall .
	touch $@

test: build  ## C++ and Python tests
	scripts/setup.sh venv
	LAMELLA_TEST_PYTHON=$(CURDIR)/$(PYTHON) ctest --preset release -j 2
	$(MAKE) --no-print-directory $(PACKAGE)
	$(PYTHON) -m pytest tests/python

sanitize:  ## C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
	scripts/setup.sh build test venv
	cmake --preset asan --log-level=NOTICE
	cmake --build --preset asan
	LAMELLA_TEST_PYTHON=$(CURDIR)/$(PYTHON) ctest --preset asan -j 2

bench: build
	scripts/setup.sh venv
	$(MAKE) --no-print-directory $(PACKAGE)
	$(PYTHON) bench/run.py

format:
	scripts/setup.sh lint venv
	clang-format -i $(FORMATTED)
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

lint: build
	scripts/setup.sh lint venv
	clang-format --dry-run -Werror $(FORMATTED)
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	run-clang-tidy -quiet -p build/release 'src/.*\.cc'

clean:
	rm -rf build
