# @NAME@Config.cmake -- find_package(@NAME@) gives the target @NAME@::@NAME@; made by tilelang @VERSION@.
get_filename_component(_bundle "${CMAKE_CURRENT_LIST_FILE}" PATH)
if(NOT TARGET @NAME@::@NAME@)
    add_library(@NAME@::@NAME@ SHARED IMPORTED)
    set_target_properties(@NAME@::@NAME@ PROPERTIES
        IMPORTED_LOCATION "${_bundle}/lib@NAME@.so"
        INTERFACE_INCLUDE_DIRECTORIES "${_bundle}")
endif()
set(@NAME@_FOUND TRUE)
unset(_bundle)
