# FOREBAY_VERSION, from the one place that says it: the Python package, which has to know it wherever
# it lies. tools/checks/version.py sees to it that nothing else differs.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../python/forebay/__init__.py version_line REGEX "^__version__ = ")
if(NOT version_line MATCHES "^__version__ = \"([0-9]+\\.[0-9]+\\.[0-9]+)\"$")
    message(FATAL_ERROR "python/forebay/__init__.py has no __version__ (a line as "
                        "__version__ = \"1.2.3\"). Write one.")
endif()
set(FOREBAY_VERSION ${CMAKE_MATCH_1})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/../python/forebay/__init__.py)
